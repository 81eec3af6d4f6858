// The list of results. Only the rows near the window exist, so that many thousands of sentences stay smooth.

import { debounced, el, present } from "./dom.js";
import { buildHeat } from "./heat-view.js";
import { Places } from "./places.js";
import { buildWords } from "./words-view.js";

const NEAR = 900; // pixels beyond the window that are built
const LANDED = 100; // milliseconds until they are, after a flight over the list
const SLACK = 300; // and of these, as many may be used up before more are
const ROW = 48; // pixels, about, of a row of one line
const LINE = 30;
const CHARACTER = 8.5;
const NARROW = 560; // a list that is narrower has its numbers above the rows, not beside them
const GUTTER = 68;

export class SentenceList {
  #session;
  #root;
  #pane;
  /** @type {Item[]} */
  #items = []; // one for each unit
  /** @type {Item[]} */
  #rows = []; // those that are listed, in their order
  #places = new Places([]);
  #first = 0; // of the rows that are built
  #end = 0;
  /** @type {HTMLElement | null} */
  #tabStop = null;
  #printing = false;
  #drawnFrom = 0; // pixels from the top of the list
  #isFlying = false; // more than a window was scrolled at once, a moment ago: only what is seen is built
  #land = debounced(() => {
    this.#isFlying = false;
    this.#draw();
  }, LANDED);
  #sizes;

  /**
   * @param {Session} session
   * @param {HTMLElement} root
   * @param {HTMLElement} pane what scrolls, unless the window does
   */
  constructor(session, root, pane) {
    this.#session = session;
    this.#root = root;
    this.#pane = pane;
    session.on("units", () => this.#setUnits());
    session.on("listed", () => this.#list());
    session.on("review", () => this.#outdate(this.#items));
    session.on("results", (event) => this.#renew(event.detail.units));
    session.on("readings", () => this.#rebuild());
    session.on("label thresholds corrections scale", () => this.#outdate(this.#items));
    this.#sizes = new ResizeObserver(() => this.#measure());
    document.addEventListener("scroll", () => this.#draw(), { capture: true, passive: true });
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (root.clientWidth === width) return;
      width = root.clientWidth;
      for (const item of this.#items) item.height = 0;
      if (session.comparing) this.#rebuild();
      this.#place();
    }).observe(root);
    addEventListener("resize", () => this.#draw());
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
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
    const found = this.#rows[this.#rows.indexOf(item) + step];
    if (found) this.#reveal(found);
    return found;
  }

  /** The first that is listed, ready to be focused. */
  get first() {
    if (this.#rows[0]) this.#reveal(this.#rows[0]);
    return this.#rows[0];
  }

  /**
   * Scrolls to a sentence by its number in the text, and builds it.
   * @param {number} number
   */
  goTo(number) {
    const item = this.#items[number];
    if (!item || !this.#rows.includes(item)) return;
    this.#reveal(item);
    item.li?.scrollIntoView({ block: "center", behavior: "instant" });
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
    this.#items = this.#session.units.map((unit, number) => {
      const item = kept.get(unit.key)?.shift() ?? this.#newItem(unit);
      if (item.number !== number) item.stale = true;
      return Object.assign(item, { number, unit });
    });
    this.#list();
  }

  #list() {
    const { numbers } = this.#session;
    this.#rows = numbers === null ? this.#items : numbers.map((number) => this.#items[number]);
    this.#place();
  }

  /**
   * @param {Unit} unit
   * @returns {Item}
   */
  #newItem(unit) {
    return { unit, number: 0, li: null, view: null, stale: true, height: 0 };
  }

  /**
   * The element of an item, made when it is near the window.
   * @param {Item} item
   */
  #elementOf(item) {
    item.li ??= Object.assign(el("li"), { item });
    return item.li;
  }

  /**
   * Takes the element of an item away, so that what exists does not grow with what was looked at.
   * @param {HTMLLIElement} li
   */
  #forget(li) {
    this.#sizes.unobserve(li);
    li.remove();
    if (li.item) Object.assign(li.item, { li: null, view: null, stale: true });
  }

  /** The heights of the rows: as measured, else as their length makes likely. */
  #heights() {
    const wide = Math.max(160, this.#root.clientWidth - 220);
    const { comparing } = this.#session;
    return this.#rows.map(({ height, unit }) => height || ROW + LINE * (comparing ? 2 : Math.floor((unit.text.length * CHARACTER) / wide)));
  }

  /** Lays the rows out anew. */
  #place() {
    this.#places = new Places(this.#heights());
    this.#first = this.#end = 0;
    this.#draw();
  }

  /** Builds what is near the window, and takes away what no longer is. */
  #draw() {
    const [from, to] = this.#window();
    const { count } = this.#places;
    if (Math.abs(from - this.#drawnFrom) > to - from) {
      this.#isFlying = true;
      this.#land();
    }
    this.#drawnFrom = from;
    const [near, slack] = this.#isFlying ? [0, 0] : [NEAR, SLACK];
    const isBuilt = this.#end > this.#first
      && (this.#first === 0 || this.#places.top(this.#first) <= from - near + slack)
      && (this.#end === count || this.#places.top(this.#end) >= to + near - slack);
    if (isBuilt || (!count && !this.#root.firstChild)) return;
    const first = count && !this.#printing ? this.#places.at(from - near) : 0;
    const end = count && !this.#printing ? this.#places.at(to + near) + 1 : count;
    this.#keepingPlace(() => this.#build(first, end));
  }

  /** The part of the list that can be seen, in pixels from its top. */
  #window() {
    const { top } = this.#root.getBoundingClientRect();
    return [Math.max(0, -top), innerHeight - top];
  }

  /**
   * @param {number} first
   * @param {number} end
   */
  #build(first, end) {
    const rows = this.#rows.slice(first, end);
    const wanted = new Set(rows);
    for (const li of this.#built) if (!li.item || !wanted.has(li.item)) this.#forget(li);
    let next = this.#root.firstElementChild;
    rows.forEach((item, i) => {
      const li = this.#elementOf(item);
      if (li === next) {
        next = next.nextElementSibling;
      } else {
        this.#root.insertBefore(li, next);
        this.#sizes.observe(li);
      }
      this.#show(item);
      li.setAttribute("aria-setsize", String(this.#places.count));
      li.setAttribute("aria-posinset", String(first + i + 1));
    });
    [this.#first, this.#end] = [first, end];
    this.#pad();
    this.#keepTabStop();
  }

  #pad() {
    this.#root.style.setProperty("padding-top", `${this.#places.top(this.#first)}px`);
    this.#root.style.setProperty("padding-bottom", `${this.#places.total - this.#places.top(this.#end)}px`);
  }

  /** The elements that are built, in their order. */
  get #built() {
    return /** @type {HTMLLIElement[]} */ ([...this.#root.children]);
  }

  /** Takes the true heights of what is built. */
  #measure() {
    const heights = this.#built.map((li) => li.getBoundingClientRect().height);
    let changed = false;
    heights.forEach((height, i) => {
      const item = this.#rows[this.#first + i];
      if (Math.abs(height - item.height) <= 0.5) return;
      changed = true;
      item.height = height;
      this.#places.set(this.#first + i, height);
    });
    if (!changed) return;
    this.#keepingPlace(() => this.#pad());
    this.#draw();
  }

  /**
   * Does something to the rows while the first that can be seen stays where it is.
   * @param {() => void} change
   */
  #keepingPlace(change) {
    const top = Math.max(0, this.#root.getBoundingClientRect().top);
    const seen = this.#built.find((li) => li.getBoundingClientRect().bottom > top);
    const before = seen?.getBoundingClientRect().top ?? 0;
    change();
    if (!seen?.isConnected || this.#window()[0] === 0) return;
    const moved = seen.getBoundingClientRect().top - before;
    const scroller = this.#pane.scrollHeight > this.#pane.clientHeight + 1 ? this.#pane : document.documentElement;
    if (Math.abs(moved) > 0.5) scroller.scrollTop += moved;
  }

  /** @param {Item} item */
  #reveal(item) {
    const row = this.#rows.indexOf(item);
    if (row >= this.#first && row < this.#end) return this.#show(item);
    this.#build(Math.max(0, row - 20), Math.min(this.#rows.length, row + 20));
  }

  /** @param {boolean} printing */
  #print(printing) {
    this.#printing = printing;
    this.#first = this.#end = 0;
    this.#draw();
  }

  /** @param {Unit[]} units */
  #renew(units) {
    const keys = new Set(units.map((unit) => unit.key));
    this.#outdate(this.#items.filter((item) => keys.has(item.unit.key)));
  }

  #rebuild() {
    for (const item of this.#items) Object.assign(item, { view: null, height: 0 });
    this.#outdate(this.#items);
  }

  /** @param {Item[]} items */
  #outdate(items) {
    for (const item of items) {
      item.stale = true;
      if (item.li) this.#show(item);
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
    } else {
      const view = item.view ?? this.#makeView(item);
      view.dress();
      this.#keepTabStop();
    }
    const number = this.#elementOf(item).querySelector(".number");
    if (number) number.textContent = item.unit.id || (item.number + 1).toLocaleString("en");
  }

  /**
   * @param {Item} item
   * @returns {View}
   */
  #makeView(item) {
    const { comparing } = this.#session;
    const view = comparing ? buildHeat(this.#session, item.unit, this.#measures()) : buildWords(this.#session, item.unit);
    item.view = view;
    const li = this.#elementOf(item);
    li.classList.remove("pending");
    li.replaceChildren(view.node);
    return view;
  }

  #measures() {
    const { fontFamily } = getComputedStyle(this.#root);
    return { width: this.#root.clientWidth - (this.#root.clientWidth < NARROW ? 8 : GUTTER), font: `16px ${fontFamily}` };
  }

  /** @param {Item} item */
  #fillPending(item) {
    const { readings } = this.#session;
    const refusal = readings.length ? this.#session.refusal(readings[0], item.unit) : null;
    item.view = null;
    const li = this.#elementOf(item);
    li.classList.toggle("pending", !refusal);
    const beside = refusal ? el("p", { class: "refusal", text: `Not labelled. ${refusal}` }) : el("div", { class: "verdict" });
    const text = el("p", { class: "text", dir: "auto", lang: "", text: item.unit.text });
    li.replaceChildren(el("div", { class: "sentence" }, el("span", { class: "number" }), beside, text));
  }

  #keepTabStop() {
    if (this.#tabStop?.isConnected) return;
    /** @type {HTMLElement | null} */
    const first = this.#root.querySelector("[data-word]");
    if (first) this.setTabStop(first);
  }
}
