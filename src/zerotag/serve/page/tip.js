// The score of a word, shown while it is pointed at, focused or tapped.

import { byId, decimal, el, present } from "./dom.js";
import { readingName, showsMarks } from "./heat-view.js";

export class Tip {
  #session;
  #list;
  #box = byId("tip");
  /** @type {HTMLElement | null} */
  #owner = null;

  /**
   * @param {Session} session
   * @param {SentenceList} list
   * @param {HTMLElement} root
   */
  constructor(session, list, root) {
    this.#session = session;
    this.#list = list;
    root.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.show(wordOf(event)));
    root.addEventListener("pointerleave", () => this.show(wordOf({ target: document.activeElement })));
    root.addEventListener("focusin", (event) => this.show(wordOf(event)));
    root.addEventListener("focusout", () => this.show(null));
    addEventListener("scroll", () => this.#place(), { passive: true });
    addEventListener("keydown", (event) => event.key === "Escape" && this.show(null));
    session.on("thresholds corrections label", () => this.show(this.#owner));
    session.on("units readings", () => this.show(null));
  }

  /** The word whose score is shown. */
  get owner() {
    return this.#owner;
  }

  /**
   * Shows the score of a word, or nothing.
   * @param {HTMLElement | null} word
   */
  show(word) {
    this.#owner?.removeAttribute("aria-describedby");
    this.#owner = word?.isConnected ? word : null;
    this.#box.hidden = !this.#owner;
    if (!this.#owner) return;
    this.#box.replaceChildren(...this.#content(this.#owner));
    this.#owner.setAttribute("aria-describedby", "tip");
    this.#place();
  }

  /** @param {HTMLElement} element */
  #content(element) {
    const { unit } = this.#list.itemOf(element);
    const word = Number(element.dataset.word);
    const reading = this.#session.readings[Number(element.dataset.reading)];
    const verdicts = this.#session.judge(reading, unit);
    if (!verdicts) return [el("p", { text: this.#session.refusal(reading, unit) ?? "Not scored yet" })];
    const marks = showsMarks(this.#session, reading);
    const lines = scoresOf(verdicts, word, marks).map(([score, name, decided]) => el("p", {}, el("b", { text: score }), ` ${name} `, el("span", { class: "quiet", text: decided })));
    /** @param {string} text */
    const about = (text) => el("p", { class: "quiet", text });
    if (!element.classList.contains("cell")) return [...lines, about(hint(verdicts, word))];
    const { text } = present(this.#session.result(reading, unit)).words[word];
    return [about(`${text} · ${readingName(this.#session, reading)}`), ...lines];
  }

  #place() {
    if (!this.#owner) return;
    const at = this.#owner.getClientRects()[0];
    if (!at) return;
    const { width, height } = this.#box.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left + at.width / 2 - width / 2, innerWidth - width - 8));
    const above = at.top - height - 8;
    this.#box.style.setProperty("left", `${left}px`);
    this.#box.style.setProperty("top", `${above < 8 ? at.bottom + 8 : above}px`);
  }
}

/**
 * The word or cell that an event is about.
 * @param {{target: EventTarget | null}} event
 * @returns {HTMLElement | null}
 */
export function wordOf(event) {
  return event.target instanceof Element ? event.target.closest("[data-word]") : null;
}

/**
 * The scores of a word, highest first, as [score, label, decision]; without `marks` nothing was decided.
 * @param {Verdict[]} verdicts
 * @param {number} word
 * @param {boolean} marks
 * @returns {string[][]}
 */
export function scoresOf(verdicts, word, marks) {
  const ordered = [...verdicts].sort((a, b) => b.scores[word] - a.scores[word]);
  return ordered.map((verdict) => [decimal(verdict.scores[word], 3), verdict.name, marks ? decision(verdict, word) : ""]);
}

/**
 * @param {Verdict} verdict
 * @param {number} word
 */
function decision(verdict, word) {
  const said = verdict.said.get(word);
  if (said !== undefined) return said ? "corrected: yes" : "corrected: no";
  return `${verdict.words[word] ? "≥" : "<"} ${decimal(verdict.rule.word_threshold, 3)}`;
}

/**
 * @param {Verdict[]} verdicts
 * @param {number} word
 */
function hint(verdicts, word) {
  if (verdicts.length > 1) return "click to correct";
  return verdicts[0].said.has(word) ? "click to take the correction back" : `click: ${verdicts[0].decided[word] ? "not " : ""}${verdicts[0].name}`;
}
