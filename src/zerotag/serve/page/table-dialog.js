// A table on the way in: which column is what, what is wrong with it, and whether it can be trained on.

import { byId, counted, debounced, el, present } from "./dom.js";

const AS_USUAL = "";
const PAUSE = 200;

export class TableDialog {
  #workspace;
  #onUse;
  #onTrain;
  /** @type {TableSummary | null} */
  #table = null;
  #checked = 0; // which check is the latest
  #check = debounced(() => this.#askForCheck(), PAUSE);

  /**
   * `onUse` is told of a table whose texts are to be labelled, `onTrain` of one that is trained on.
   * @param {Workspace} workspace
   * @param {(table: TableSummary, choice: TableChoice) => void} onUse
   * @param {(table: TableSummary, choice: TableChoice, name: string) => void} onTrain
   */
  constructor(workspace, onUse, onTrain) {
    this.#workspace = workspace;
    this.#onUse = onUse;
    this.#onTrain = onTrain;
    for (const id of /** @type {const} */ (["table-text", "table-label", "table-negative", "table-id"])) byId(id).addEventListener("change", () => this.#chosen(id));
    byId("table-cancel").addEventListener("click", () => byId("table").close());
    byId("table-use").addEventListener("click", () => {
      byId("table").close();
      this.#onUse(present(this.#table), this.choice);
    });
    byId("table-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#train();
    });
  }

  /** The columns as they are chosen now. */
  get choice() {
    const { value: label } = byId("table-label");
    return { text: byId("table-text").value, label: label || null, id: byId("table-id").value || null, negative: byId("table-negative").value || null };
  }

  /**
   * @param {TableSummary} table
   * @param {boolean} canLabel whether there is a model to label with
   * @param {TableChoice} [choice]
   */
  open(table, canLabel, choice) {
    this.#table = table;
    const { text, label, id } = choice ?? table.guess;
    const columns = Object.keys(table.columns);
    byId("table-title").textContent = `${table.name} · ${counted(table.rows, "row")}`;
    fill(byId("table-text"), columns, text);
    fill(byId("table-label"), columns, label, "none");
    fill(byId("table-id"), columns, id, "row number");
    this.#fillNegative(choice?.negative ?? null);
    byId("table-name").value = nameFor(table.name);
    byId("table-use").hidden = !canLabel;
    this.#showProblems();
    this.#showPreview();
    byId("table").showModal();
    this.#check();
  }

  /** @param {string} id */
  #chosen(id) {
    if (id === "table-label") this.#fillNegative(null);
    this.#showPreview();
    this.#check();
  }

  /** @param {string | null} chosen */
  #fillNegative(chosen) {
    const { label } = this.choice;
    const values = label ? Object.keys(present(this.#table).columns[label].values ?? {}) : [];
    byId("table-negative-field").hidden = !values.length;
    fill(byId("table-negative"), values, chosen, "O, c, 0, no or false");
  }

  #showPreview() {
    const { preview, columns } = present(this.#table);
    const names = Object.keys(columns);
    const { text, label, id } = this.choice;
    /** @param {string} name */
    const look = (name) => ([text, label, id].includes(name) ? "chosen" : null);
    const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col", class: look(name), text: name })));
    const rows = preview.map((row) => el("tr", {}, ...names.map((name) => el("td", { class: look(name), dir: "auto", title: shown(row[name]), text: shown(row[name]) }))));
    byId("table-preview").replaceChildren(el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  #showProblems() {
    const { bad, problems } = present(this.#table);
    byId("table-problems").hidden = !bad;
    present(byId("table-problems").querySelector("summary")).textContent = `${counted(bad, "row")} left out`;
    const lines = problems.map(({ line, reason, excerpt }) => el("li", {}, `Line ${line}: ${reason} `, el("code", { text: excerpt })));
    if (bad > problems.length) lines.push(el("li", { text: `and ${counted(bad - problems.length, "more row")}` }));
    present(byId("table-problems").querySelector("ul")).replaceChildren(...lines);
  }

  async #askForCheck() {
    const { text, label, negative } = this.choice;
    byId("table-refusal").hidden = true;
    byId("table-train").disabled = true;
    if (!label) return byId("table-found").replaceChildren(el("p", { class: "quiet", text: "Choose a label column to train a model." }));
    const number = ++this.#checked;
    byId("table-found").replaceChildren(el("p", { class: "quiet", text: "Reading the labels …" }));
    try {
      const found = await this.#workspace.check(present(this.#table).id, { text, labels: [label], negative: negative === null ? null : [negative] });
      if (number === this.#checked) this.#showFound(found);
    } catch (problem) {
      if (number === this.#checked) this.#refuse(problem.message);
    }
  }

  /** @param {Check} found */
  #showFound({ sentences, labels, warnings, problem }) {
    const counts = Object.entries(labels).map(([name, count]) => `${count.toLocaleString("en")} “${name}”`);
    const summary = el("p", {}, el("b", { text: counted(sentences, "sentence") }), counts.length ? `, of them ${counts.join(", ")}` : "");
    const notes = warnings.map((text) => el("li", { class: "warning", text }));
    byId("table-found").replaceChildren(summary, ...(notes.length ? [el("ul", {}, ...notes)] : []));
    byId("table-train").disabled = problem !== null;
    if (problem) this.#refuse(`This cannot be trained on: ${problem}.`);
  }

  async #train() {
    const { text, label, negative } = this.choice;
    const table = present(this.#table);
    const name = byId("table-name").value;
    byId("table-train").disabled = true;
    try {
      await this.#workspace.train(table.id, name, { text, labels: [present(label)], negative: negative === null ? null : [negative] });
      byId("table").close();
      this.#onTrain(table, this.choice, name);
    } catch (problem) {
      this.#refuse(problem.message);
    } finally {
      byId("table-train").disabled = false;
    }
  }

  /** @param {string} message */
  #refuse(message) {
    byId("table-refusal").textContent = message;
    byId("table-refusal").hidden = false;
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[]} values
 * @param {string | null} chosen
 * @param {string} [none] how the choice of none of them is called
 */
function fill(select, values, chosen, none) {
  const first = none === undefined ? [] : [el("option", { value: AS_USUAL, text: none, selected: chosen === null })];
  select.replaceChildren(...first, ...values.map((value) => el("option", { value, text: value, selected: value === chosen })));
}

/** @param {unknown} value */
function shown(value) {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ") || "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * A model's name from a file's.
 * @param {string} file
 */
function nameFor(file) {
  return file.replace(/\.[^.]*$/, "").replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "").slice(0, 60) || "model";
}
