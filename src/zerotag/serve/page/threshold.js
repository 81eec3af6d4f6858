// A slider for the word threshold of one label, over the distribution of scores, with a mark where the service has it.

import { el } from "./dom.js";
import { atThreshold, expectedOf } from "./expected.js";

const STEPS = 100;
const BINS = 50;
const HEIGHT = 24;
const SVG = "http://www.w3.org/2000/svg";

export class ThresholdSlider {
  #session;
  #label;
  /** @type {[number, number]} */
  #range = [0, 1];
  #input;
  #output;
  #mark;
  #note;
  #reset;
  #bars;
  #best = el("span", { class: "best", "aria-hidden": "true" });
  #expectation = el("p", { class: "expected", role: "status" });
  /** @type {Expected | null} */
  #expected = null;

  /**
   * @param {Session} session
   * @param {string} label
   */
  constructor(session, label) {
    this.#session = session;
    this.#label = label;
    const id = `threshold-${session.modelOf(session.main).labels.indexOf(label)}`;
    this.#input = el("input", { type: "range", id, on: { input: () => this.#moved() } });
    this.#output = el("output", { for: id });
    this.#mark = el("span", { class: "mark", "aria-hidden": "true" });
    this.#note = el("span", { class: "note" });
    this.#reset = el("button", { type: "button", class: "link", text: "Reset", on: { click: () => this.#put(null) } });
    this.#bars = document.createElementNS(SVG, "path");
    const chart = document.createElementNS(SVG, "svg");
    chart.setAttribute("viewBox", `0 0 ${BINS} ${HEIGHT}`);
    chart.setAttribute("preserveAspectRatio", "none");
    chart.setAttribute("aria-hidden", "true");
    chart.append(this.#bars);
    this.element = el(
      "div",
      { class: `threshold ${session.hue(label)}` },
      el("label", { for: id }, el("b", { text: label }), el("span", { text: " word threshold" })),
      this.#output,
      el("div", { class: "track" }, chart, this.#best, this.#mark, this.#input),
      el("p", { class: "under" }, this.#note, this.#reset),
      this.#expectation,
    );
    this.measure();
    this.expect();
    this.show();
  }

  /** Follows the scores: their distribution and, for methods without a fixed scale, the slider's ends. */
  measure() {
    const { main, units } = this.#session;
    const scores = units.flatMap((unit) => {
      const result = this.#session.result(main, unit);
      return result ? [result.scores[this.#label]] : [];
    });
    const { word_threshold: initial } = this.#session.serviceRule(main, this.#label);
    this.#range = main.method === "native" ? [Math.min(0, initial), Math.max(1, initial)] : rangeOf(scores, initial);
    const [low, high] = this.#range;
    Object.assign(this.#input, { min: low, max: high, step: (high - low) / STEPS });
    this.#bars.setAttribute("d", histogram(scores, low, high));
    this.show();
  }

  /** Follows what a person has looked at: what each threshold finds there. */
  expect() {
    this.#expected = this.#session.main.method === "native" ? expectedOf(this.#session, this.#label) : null;
    this.#best.hidden = !this.#expected;
    this.show();
    if (!this.#expected) return;
    const [low, high] = this.#range;
    const { best } = this.#expected;
    this.#best.style.setProperty("--from", ((best.low - low) / (high - low)).toFixed(4));
    this.#best.style.setProperty("--span", ((best.high - best.low) / (high - low)).toFixed(4));
  }

  #showExpected(/** @type {number} */ threshold) {
    this.#expectation.hidden = !this.#expected;
    if (!this.#expected) return;
    const { sentences, best } = this.#expected;
    const { precision, recall } = atThreshold(this.#expected, threshold);
    const range = best.low === best.high ? `at ${best.low.toFixed(2)}` : `from ${best.low.toFixed(2)} to ${best.high.toFixed(2)}`;
    this.#expectation.replaceChildren(
      "Precision ", el("b", { text: percent(precision.value) }), ` ${interval(precision)}, recall `, el("b", { text: percent(recall.value) }),
      ` ${interval(recall)} on the ${sentences} sentences you looked at. `, el("span", { class: "best-range", text: `F1 is best ${range}.` }),
    );
  }

  /** Shows where the threshold is. */
  show() {
    const { main } = this.#session;
    const { word_threshold: initial, origin } = this.#session.serviceRule(main, this.#label);
    const { word_threshold: threshold } = this.#session.rule(main, this.#label);
    const moved = threshold !== initial;
    this.#input.value = String(threshold);
    this.#output.textContent = threshold.toFixed(2);
    this.#input.setAttribute("aria-valuetext", moved ? threshold.toFixed(2) : `${threshold.toFixed(2)}, as calibrated`);
    this.#place(this.#mark, initial);
    this.#place(this.#input, threshold);
    this.#note.textContent = `▾ ${originOf(initial, origin)}`;
    this.#reset.hidden = !moved;
    this.#showExpected(threshold);
  }

  /**
   * Moves the threshold by some steps.
   * @param {number} steps
   */
  nudge(steps) {
    if (steps > 0) this.#input.stepUp(steps);
    else this.#input.stepDown(-steps);
    this.#moved();
  }

  #moved() {
    const [low, high] = this.#range;
    /** @param {number} threshold */
    const step = (threshold) => Math.round((STEPS * (threshold - low)) / (high - low));
    const value = Number(this.#input.value);
    const { word_threshold: initial } = this.#session.serviceRule(this.#session.main, this.#label);
    // The service's number need not lie on a step: the step nearest to it stands for it.
    this.#put(step(value) === step(initial) ? initial : value);
  }

  /** @param {number | null} threshold */
  #put(threshold) {
    this.#session.setThreshold(this.#label, threshold);
  }

  /**
   * @param {HTMLElement} element
   * @param {number} value
   */
  #place(element, value) {
    const [low, high] = this.#range;
    element.style.setProperty("--at", ((value - low) / (high - low)).toFixed(4));
  }
}

/** @param {number} share */
function percent(share) {
  return Number.isNaN(share) ? "–" : `${(100 * share).toFixed(0)}\u00a0%`;
}

/**
 * Where a share lies with 95 % confidence.
 * @param {{low: number, high: number}} share
 */
function interval({ low, high }) {
  return Number.isNaN(low) ? "" : `(${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)})`;
}

/**
 * Where the service has a threshold, and why there; the origin of one that is fixed may say for what.
 * @param {number} threshold
 * @param {string} origin
 */
function originOf(threshold, origin) {
  const at = `at ${threshold.toFixed(2)}`;
  return origin.startsWith("fixed") ? origin.replace("fixed", `fixed ${at}`) : `calibrated ${at} (${origin})`;
}

/**
 * @param {Float64Array[]} scores
 * @param {number} initial
 * @returns {[number, number]}
 */
function rangeOf(scores, initial) {
  let [low, high] = [Math.min(0, initial), Math.max(0.1, initial)];
  for (const some of scores) {
    for (const score of some) {
      if (score < low) low = score;
      if (score > high) high = score;
    }
  }
  return [low, high];
}

/**
 * Bars of how many words have which score, as an SVG path; roots, because most words score near zero.
 * @param {Float64Array[]} scores
 * @param {number} low
 * @param {number} high
 */
function histogram(scores, low, high) {
  const counts = new Array(BINS).fill(0);
  for (const some of scores) {
    for (const score of some) counts[Math.max(0, Math.min(BINS - 1, Math.floor(((score - low) / (high - low)) * BINS)))] += 1;
  }
  const most = Math.sqrt(Math.max(...counts, 9)); // a few words make no mountains
  return counts
    .map((count, i) => (count ? `M${i + 0.1} ${HEIGHT}v${(-HEIGHT * Math.max(0.06, Math.sqrt(count) / most)).toFixed(2)}h.8V${HEIGHT}z` : ""))
    .join("");
}
