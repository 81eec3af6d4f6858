// All that is labelled as a whole: the words of each label with counts and scores, and where they stand.

import { byId, counted, decimal, el, paced, present } from "./dom.js";
import { contextOf, lexiconOf } from "./lexicon.js";
import { position } from "./rule.js";

const PAUSE = 200;
const FEW = 40; // words that are shown at first
const HEADER = ["Word", "Marked", "Of", "Mean score", "Sentences"];

export class CorpusView {
  #session;
  /** @type {Set<string>} */
  #open = new Set(); // label and word of which the concordance is shown
  /** @type {Set<string>} */
  #whole = new Set(); // labels of which all words are shown
  #onShow;

  /**
   * @param {Session} session
   * @param {(shown: boolean) => void} onShow told when the words take the place of the sentences, and back
   */
  constructor(session, onShow) {
    this.#session = session;
    this.#onShow = onShow;
    for (const name of /** @type {const} */ (["sentences", "words"])) {
      byId(`view-${name}`).addEventListener("change", () => this.show(name === "words"));
    }
    const draw = paced(() => this.isShown && this.#draw(), PAUSE);
    session.on("units results thresholds corrections label readings", draw);
  }

  get isShown() {
    return byId("view-words").checked;
  }

  /** @param {boolean} shown */
  show(shown) {
    byId(shown ? "view-words" : "view-sentences").checked = true;
    byId("results").classList.toggle("of-words", shown);
    byId("corpus").hidden = !shown;
    if (shown) this.#draw();
    this.#onShow(shown);
  }

  #draw() {
    const { main, labelled } = this.#session;
    if (!main) return;
    const focused = document.activeElement?.closest("#corpus button")?.id;
    byId("corpus").replaceChildren(...(labelled.length ? this.#session.shown(main).map((label) => this.#section(label)) : []));
    if (focused) document.getElementById(focused)?.focus();
  }

  /** @param {string} label */
  #section(label) {
    const lexicon = lexiconOf(this.#session, label);
    const { entries, positive, sentences, marked, words } = lexicon;
    const all = this.#whole.has(label);
    const lead = `${positive.toLocaleString("en")} of ${counted(sentences, "sentence")} have it · ${marked.toLocaleString("en")} of ${counted(words, "word")} carry it, ${counted(entries.length, "different one")}`;
    const rows = entries.slice(0, all ? undefined : FEW).flatMap((entry, number) => this.#rows(entry, label, number, lexicon));
    const more = el("button", { type: "button", class: "button", id: `more-${label}`, text: `Show all ${counted(entries.length, "word")}`, on: { click: () => (this.#whole.add(label), this.#draw()) } });
    const head = HEADER.map((name) => el("th", { scope: "col", text: name }));
    return el(
      "section",
      { class: this.#session.hue(label), "aria-label": `Words: ${label}` },
      el("h3", { text: label }),
      el("p", { class: "quiet", text: entries.length ? lead : `No word reaches the threshold. ${lead}.` }),
      ...(entries.length ? [el("table", { class: "lexicon" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))] : []),
      ...(entries.length > FEW && !all ? [more] : []),
    );
  }

  /**
   * @param {Entry} entry
   * @param {string} label
   * @param {number} number
   * @param {Lexicon} lexicon
   */
  #rows(entry, label, number, { sentences }) {
    const key = `${label}\n${entry.word}`;
    const open = this.#open.has(key);
    const { word_threshold: threshold } = this.#session.rule(this.#session.main, label);
    const word = el("span", { class: "word yes", dir: "auto", style: { "--strength": position(entry.mean, threshold).toFixed(2) }, text: entry.word });
    const toggle = el("button", { type: "button", class: "plain", id: `word-${this.#session.hue(label)}-${number}`, "aria-expanded": String(open), on: { click: () => this.#toggle(key) } }, word);
    const share = `${((100 * entry.sentences) / sentences).toFixed(1)} %`;
    const cells = [entry.marked.toLocaleString("en"), entry.occurrences.toLocaleString("en"), decimal(entry.mean, 2), share];
    const row = el("tr", {}, el("th", { scope: "row" }, toggle), ...cells.map((text) => el("td", { text })));
    return open ? [row, el("tr", {}, el("td", { colspan: HEADER.length, class: "concordance" }, this.#concordance(entry, threshold)))] : [row];
  }

  /** @param {string} key */
  #toggle(key) {
    if (!this.#open.delete(key)) this.#open.add(key);
    this.#draw();
  }

  /**
   * @param {Entry} entry
   * @param {number} threshold
   */
  #concordance(entry, threshold) {
    const lines = entry.hits.map((hit) => {
      const { left, word, right } = contextOf(this.#session, hit);
      const shade = el("span", { class: "word yes", style: { "--strength": position(hit.score, threshold).toFixed(2) }, text: word });
      return el(
        "li",
        {},
        el("span", { class: "left" }, el("bdi", { text: left })),
        shade,
        el("span", { class: "right", dir: "auto", text: right }),
        el("span", { class: "quiet", text: decimal(hit.score, 2) }),
      );
    });
    const go = el("button", { type: "button", class: "link", text: entry.sentences > 1 ? `All ${counted(entry.sentences, "sentence")}` : "Its sentence", on: { click: () => this.#search(entry.word) } });
    return el("div", {}, el("ul", {}, ...lines), go);
  }

  /**
   * The sentences with a word, in the list.
   * @param {string} word
   */
  #search(word) {
    this.#session.list({ search: word });
    this.show(false);
    present(byId("search")).focus();
  }
}
