// Where text comes from: typing, pasting, files, examples.

import { byId, counted, debounced, el, present } from "./dom.js";
import { examplesFor } from "./examples.js";
import { isTableFile, KINDS, readFile, TABLES, unitsOfColumn } from "./files.js";
import { textUnit, unitsOf, wordsUnit } from "./texts.js";

const PAUSE = 250; // milliseconds without a key before the text is labelled
const LONGEST = 100_000; // characters that a text field can be asked to hold: beyond that, each key takes long

export class Input {
  #session;
  #onProblem;
  #onTable;
  #text = byId("text");
  /** @type {({name: string} & Table) | null} */
  #content = null; // of a file with columns
  #nextExample = 0;
  #taken = Promise.resolve(); // once the last file is
  #kinds = KINDS; // of files that can be opened

  /**
   * `onProblem` is told what is wrong with a file, and null when all is well again.
   * @param {Session} session
   * @param {(problem: {title: string, message: string} | null) => void} onProblem
   * @param {(file: File) => Promise<boolean>} onTable is offered tables first, and may take them
   */
  constructor(session, onProblem, onTable) {
    this.#session = session;
    this.#onProblem = onProblem;
    this.#onTable = onTable;
    const typed = debounced(() => this.#typed(), PAUSE);
    this.#text.addEventListener("input", () => {
      byId("sentences").setAttribute("aria-busy", "true"); // until the work is done, or cannot be
      typed();
    });
    this.#text.addEventListener("paste", (event) => this.#paste(event));
    byId("example").addEventListener("click", () => this.#showExample());
    byId("clear").addEventListener("click", () => this.#clear());
    byId("file-close").addEventListener("click", () => this.#clear());
    byId("open").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", () => {
      const [file] = byId("file").files ?? [];
      if (file) this.#take(file);
      byId("file").value = "";
    });
    byId("column").addEventListener("change", () => this.#useColumn(byId("column").value));
    this.#acceptDrops();
    session.on("units", () => this.#showCount());
    this.#showKinds();
  }

  /** Says that tables of more kinds can be opened: a workspace reads them. */
  offerTables() {
    this.#kinds = [...new Set([...KINDS, ...TABLES])];
    this.#showKinds();
  }

  /** The text as it is written, or null if the units came from elsewhere. */
  get text() {
    return this.#session.source ? null : this.#text.value;
  }

  /**
   * @param {string} text
   * @param {string} [name] by which it goes where it is too long to be edited
   */
  setText(text, name = "Pasted text") {
    if (text.length > LONGEST) return this.#useLong(text, name);
    this.#showCard(false);
    this.#text.value = text;
    this.#typed();
  }

  /**
   * Units that came with a link: strings and lists of words.
   * @param {(string | string[])[]} texts
   * @param {string} name
   */
  setUnits(texts, name) {
    const units = texts.map((text) => (typeof text === "string" ? textUnit(text) : wordsUnit(text)));
    this.#content = null;
    this.#useUnits(units, name);
  }

  /**
   * The texts of a table that was uploaded.
   * @param {Unit[]} units
   * @param {Source} source
   */
  setTable(units, source) {
    this.#content = null;
    this.#useUnits(units, source.name, source);
  }

  #typed() {
    this.#onProblem(null);
    if (this.#text.value.length > LONGEST) this.#useLong(this.#text.value, "Pasted text");
    else this.#session.setUnits(unitsOf(this.#text.value));
  }

  /**
   * A text too long to be edited here is shown as a file is.
   * @param {string} text
   * @param {string} name
   */
  #useLong(text, name) {
    this.#content = null;
    this.#onProblem(null);
    this.#useUnits(unitsOf(text), name);
    this.#text.value = "";
  }

  /**
   * Takes a long text before it comes into the field.
   * @param {ClipboardEvent} event
   */
  #paste(event) {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    const { value, selectionStart, selectionEnd } = this.#text;
    const text = value.slice(0, selectionStart) + pasted + value.slice(selectionEnd);
    if (text.length <= LONGEST) return;
    event.preventDefault();
    this.setText(text);
  }

  #showExample() {
    const { main } = this.#session;
    const examples = examplesFor(main ? this.#session.modelOf(main).labels : []);
    this.setText(examples[this.#nextExample++ % examples.length]);
  }

  #clear() {
    this.setText("");
    this.#text.focus();
  }

  /**
   * Files are taken in the order they came in, though a large one takes longer to read than the next.
   * @param {File} file
   */
  #take(file) {
    this.#taken = this.#taken.then(() => this.#takeNow(file));
  }

  /** @param {File} file */
  async #takeNow(file) {
    try {
      if ((await isTableFile(file)) && (await this.#onTable(file))) return this.#onProblem(null);
      const content = await readFile(file);
      this.#onProblem(null);
      if (content.text !== undefined) return this.setText(content.text, content.name);
      this.#content = content.columns ? content : null;
      if (content.columns) this.#useColumn(content.column);
      else this.#useUnits(content.units, content.name);
    } catch (error) {
      this.#onProblem({ title: `Couldn’t read ${file.name}`, message: error.message });
    }
  }

  /** @param {string} column */
  #useColumn(column) {
    const content = present(this.#content);
    const { name, columns } = content;
    this.#useUnits(unitsOfColumn(content, column), name);
    byId("column").replaceChildren(...columns.map((one) => el("option", { value: one, text: one, selected: one === column })));
    byId("column-field").hidden = columns.length < 2;
  }

  /**
   * @param {Unit[]} units
   * @param {string} name
   * @param {Source} [source]
   */
  #useUnits(units, name, source = { name }) {
    byId("file-name").textContent = name;
    byId("file-note").textContent = counted(units.length, "text");
    byId("column-field").hidden = true;
    this.#showCard(true);
    byId("table-again").hidden = source.table === undefined;
    this.#session.setUnits(units, source);
  }

  /** @param {boolean} shown */
  #showCard(shown) {
    byId("file-card").hidden = !shown;
    this.#text.hidden = shown;
  }

  #showKinds() {
    byId("file").accept = this.#kinds.join(",");
    byId("drop-kinds").textContent = this.#kinds.join(", ");
    this.#showCount();
  }

  #showCount() {
    const { units, source } = this.#session;
    byId("count").textContent = units.length ? counted(units.length, "sentence") : `or drop one anywhere: ${this.#kinds.join(", ")}`;
    byId("clear").hidden = !units.length || Boolean(source);
  }

  #acceptDrops() {
    const overlay = byId("drop");
    /** @param {DragEvent} event */
    const hasFile = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragenter", (event) => hasFile(event) && (overlay.hidden = false));
    addEventListener("dragleave", (event) => !event.relatedTarget && (overlay.hidden = true));
    addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      overlay.hidden = true;
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      const { files } = event.dataTransfer;
      if (files.length > 1) this.#onProblem({ title: "One file at a time", message: `These are ${files.length} files. Drop one, or use “zerotag label” for many.` });
      else this.#take(files[0]);
    });
  }
}
