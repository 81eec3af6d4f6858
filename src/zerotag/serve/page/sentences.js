// The list of results. Only what is near the window is built, so that thousands of sentences stay smooth.

import { el, present } from "./dom.js";
import { buildHeat } from "./heat-view.js";
import { buildWords } from "./words-view.js";

const NEAR = "800px 0px";

export class SentenceList {
  #session;
  #root;
  /** @type {Item[]} */
  #items = [];
  /** @type {Set<Item>} */
  #near = new Set();
  #observer;
  /** @type {HTMLElement | null} */
  #tabStop = null;

  /**
   * @param {Session} session
   * @param {HTMLElement} root
   */
  constructor(session, root) {
    this.#session = session;
    this.#root = root;
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: NEAR });
    session.on("units", () => this.#setUnits());
    session.on("results", (event) => this.#renew(event.detail.units));
    session.on("readings", () => this.#rebuild());
    session.on("label thresholds corrections", () => this.#outdate(this.#items));
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (session.comparing && root.clientWidth !== width) this.#rebuild();
      width = root.clientWidth;
    }).observe(root);
  }

  /**
   * The item that an element belongs to: {unit, view, li}.
   * @param {Element} element
   * @returns {Item}
   */
  itemOf(element) {
    return present(element.closest("li")?.item);
  }

  /**
   * The item some places after another, ready to be focused.
   * @param {Item} item
   * @param {number} step
   * @returns {Item | undefined}
   */
  neighbour(item, step) {
    const found = this.#items[this.#items.indexOf(item) + step];
    if (found) this.#show(found);
    return found;
  }

  /**
   * Makes one word the place where the tab key enters the list.
   * @param {HTMLElement} element
   */
  setTabStop(element) {
    if (this.#tabStop) this.#tabStop.tabIndex = -1;
    this.#tabStop = element;
    element.tabIndex = 0;
  }

  #setUnits() {
    /** @type {Map<string, Item[]>} */
    const kept = new Map();
    for (const item of this.#items) kept.set(item.unit.key, [...(kept.get(item.unit.key) ?? []), item]);
    this.#items = this.#session.units.map((unit) => kept.get(unit.key)?.shift() ?? this.#newItem(unit));
    for (const item of [...kept.values()].flat()) {
      this.#observer.unobserve(item.li);
      this.#near.delete(item);
    }
    this.#root.replaceChildren(...this.#items.map(({ li }) => li));
    this.#keepTabStop();
  }

  /**
   * @param {Unit} unit
   * @returns {Item}
   */
  #newItem(unit) {
    const li = el("li");
    const item = { unit, li, view: null, stale: true };
    li.item = item;
    this.#fillPending(item);
    this.#observer.observe(li);
    return item;
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const item = this.itemOf(target);
      if (isIntersecting) {
        this.#near.add(item);
        this.#show(item);
      } else {
        this.#near.delete(item);
      }
    }
  }

  /** @param {Unit[]} units */
  #renew(units) {
    const keys = new Set(units.map((unit) => unit.key));
    this.#outdate(this.#items.filter((item) => keys.has(item.unit.key)));
  }

  #rebuild() {
    for (const item of this.#items) item.view = null;
    this.#outdate(this.#items);
  }

  /** @param {Item[]} items */
  #outdate(items) {
    for (const item of items) {
      item.stale = true;
      if (this.#near.has(item)) this.#show(item);
    }
  }

  /**
   * Builds and dresses an item, as far as needed.
   * @param {Item} item
   */
  #show(item) {
    if (!item.stale) return;
    item.stale = false;
    if (!this.#session.readings.length || !this.#session.result(this.#session.main, item.unit)) {
      this.#fillPending(item);
      return;
    }
    const view = item.view ?? this.#build(item);
    view.dress();
    this.#keepTabStop();
  }

  /**
   * @param {Item} item
   * @returns {View}
   */
  #build(item) {
    const { comparing } = this.#session;
    const view = comparing ? buildHeat(this.#session, item.unit, this.#measures()) : buildWords(this.#session, item.unit);
    item.view = view;
    item.li.classList.remove("pending");
    item.li.replaceChildren(view.node);
    return view;
  }

  #measures() {
    const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(this.#root);
    return { width: this.#root.clientWidth, font: `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}` };
  }

  /** @param {Item} item */
  #fillPending(item) {
    const { readings } = this.#session;
    const refusal = readings.length ? this.#session.refusal(readings[0], item.unit) : null;
    item.view = null;
    item.li.classList.toggle("pending", !refusal);
    const beside = refusal ? el("p", { class: "refusal", text: `Not labelled. ${refusal}` }) : el("div", { class: "verdict" });
    const text = el("p", { class: "text", dir: "auto", lang: "", text: item.unit.text });
    item.li.replaceChildren(el("div", { class: "sentence" }, beside, text));
  }

  #keepTabStop() {
    if (this.#tabStop?.isConnected) return;
    /** @type {HTMLElement | null} */
    const first = this.#root.querySelector("[data-word]");
    if (first) this.setTabStop(first);
  }
}
