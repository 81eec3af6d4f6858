// Correcting words: a click, a second tap or the Enter key; a menu where a word could have several labels.

import { byId, el, placeBeside, present } from "./dom.js";
import { wordOf } from "./tip.js";

export class Correcting {
  #session;
  #list;
  #tip;
  #menu = byId("word-menu");
  /** @type {HTMLElement | null} */
  #from = null; // the word where the mouse button went down

  /**
   * @param {Session} session
   * @param {SentenceList} list
   * @param {Tip} tip
   * @param {HTMLElement} root
   */
  constructor(session, list, tip, root) {
    this.#session = session;
    this.#list = list;
    this.#tip = tip;
    /** @type {HTMLElement | null} */
    let tipBefore = null; // what was shown before this tap: a first tap shows the score, a second corrects
    root.addEventListener("pointerdown", () => (tipBefore = tip.owner));
    root.addEventListener("click", (event) => {
      const word = wordOf(event);
      if (!word) return;
      this.#list.setTabStop(word);
      word.focus({ preventScroll: true });
      const firstTap = event.pointerType === "touch" && tipBefore !== word;
      if (firstTap) this.#tip.show(word);
      else this.correct(word);
    });
    root.addEventListener("click", (event) => this.#clickBeside(event));
    root.addEventListener("pointerdown", (event) => (this.#from = event.pointerType === "mouse" ? wordOf(event) : null));
    root.addEventListener("pointerup", (event) => this.#endOfPhrase(wordOf(event)));
    this.#menu.addEventListener("keydown", (event) => this.#moveInMenu(event));
  }

  /**
   * The verdict of a sentence, or that it is right as it is.
   * @param {MouseEvent} event
   */
  #clickBeside(event) {
    const beside = event.target instanceof HTMLElement ? event.target : null;
    const label = beside?.dataset.verdict;
    if (beside && label) this.#session.correctSentence(this.#list.itemOf(beside).unit, label);
    else if (beside?.classList.contains("confirm")) this.#session.confirm(this.#list.itemOf(beside).unit);
  }

  /**
   * A phrase from the word where the mouse button went down to this one, both of a sentence.
   * @param {HTMLElement | null} to
   */
  #endOfPhrase(to) {
    const from = this.#from;
    this.#from = null;
    const labels = this.#session.shown(this.#session.main);
    if (!from || !to || from === to || from.closest("li") !== to.closest("li") || labels.length > 1 || to.classList.contains("cell")) return;
    const [first, last] = [Number(from.dataset.word), Number(to.dataset.word)].sort((a, b) => a - b);
    const words = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    getSelection()?.removeAllRanges();
    this.#session.correctPhrase(this.#list.itemOf(from).unit, words, labels[0], !from.classList.contains("yes"));
  }

  /**
   * Corrects the one label that is shown, or asks which.
   * @param {HTMLElement} word
   */
  correct(word) {
    if (word.classList.contains("cell")) return;
    const { unit } = this.#list.itemOf(word);
    const number = Number(word.dataset.word);
    const labels = this.#session.shown(this.#session.main);
    if (labels.length === 1) this.#say(unit, number, labels[0]);
    else this.#openMenu(word, unit, number, labels);
  }

  /**
   * @param {HTMLElement} word
   * @param {Unit} unit
   * @param {number} number
   * @param {string[]} labels
   */
  #openMenu(word, unit, number, labels) {
    const verdicts = present(this.#session.judge(this.#session.main, unit));
    const entries = labels.map((label, i) =>
      el(
        "button",
        {
          type: "button",
          role: "menuitemcheckbox",
          class: this.#session.hue(label),
          "aria-checked": String(Boolean(verdicts[i].decided[number])),
          on: { click: () => this.#choose(word, unit, number, label) },
        },
        el("span", { class: "swatch" }),
        label,
      ),
    );
    this.#menu.replaceChildren(...entries);
    this.#menu.setAttribute("aria-label", `Labels of “${word.textContent}”`);
    this.#menu.showPopover();
    placeBeside(this.#menu, word);
    entries[0].focus();
  }

  /**
   * @param {HTMLElement} word
   * @param {Unit} unit
   * @param {number} number
   * @param {string} label
   */
  #choose(word, unit, number, label) {
    this.#menu.hidePopover();
    this.#say(unit, number, label);
    word.focus();
  }

  /**
   * Corrects a word, and tells screen readers, to which it is text and has no state of its own.
   * @param {Unit} unit
   * @param {number} number
   * @param {string} label
   */
  #say(unit, number, label) {
    this.#session.correct(unit, number, label);
    const verdict = present(this.#session.judge(this.#session.main, unit)?.find(({ name }) => name === label));
    const { text } = present(this.#session.result(this.#session.main, unit)).words[number];
    byId("live").textContent = `${text}: ${verdict.decided[number] ? "" : "not "}${label}`;
  }

  /** @param {KeyboardEvent} event */
  #moveInMenu(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const entries = [...this.#menu.querySelectorAll("button")];
    const at = entries.findIndex((entry) => entry === document.activeElement);
    entries.at((at + step) % entries.length)?.focus();
  }
}
