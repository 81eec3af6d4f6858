// What is shown and how: model, method, label, comparison, thresholds.

import { byId, el, paced, placeBeside } from "./dom.js";
import { keyOf, methodName } from "./session.js";
import { ThresholdSlider } from "./threshold.js";

export class Controls {
  #session;
  /** @type {ThresholdSlider[]} */
  #sliders = [];
  /** @type {(HTMLInputElement & {reading: Reading})[]} */
  #boxes = []; // of readings to compare
  /** @type {Reading | null} */
  #choicesBeside = null; // the main reading they were listed for

  /** @param {Session} session */
  constructor(session) {
    this.#session = session;
    byId("model").addEventListener("change", () => this.#chooseModel(byId("model").value));
    byId("method").addEventListener("change", () => session.setMain({ model: session.main.model, method: byId("method").value }));
    byId("compare").addEventListener("toggle", (event) => event.newState === "open" && placeBeside(byId("compare"), byId("compare-open")));
    const measure = paced(() => this.#sliders.forEach((slider) => slider.measure()), 100);
    session.on("readings", () => this.#showReadings());
    session.on("readings label", () => this.#showSliders());
    session.on("results units", measure);
    session.on("corrections results", paced(() => this.#sliders.forEach((slider) => slider.expect()), 100));
    session.on("thresholds", () => this.#sliders.forEach((slider) => slider.show()));
    session.on("units readings", () => this.#showOrHide());
  }

  /**
   * Moves the thresholds that are shown.
   * @param {number} steps
   */
  nudge(steps) {
    for (const slider of this.#sliders) slider.nudge(steps);
  }

  /** Puts the thresholds that are shown back to their marks. */
  reset() {
    for (const label of this.#session.shown(this.#session.main)) this.#session.setThreshold(label, null);
  }

  /** @param {string} name */
  #chooseModel(name) {
    const { method } = this.#session.main;
    const { methods } = this.#session.modelOf({ model: name, method });
    this.#session.setMain({ model: name, method: methods.includes(method) ? method : methods[0] });
  }

  #showOrHide() {
    const { models, units, main } = this.#session;
    byId("controls").hidden = !models.length || (models.length === 1 && models[0].methods.length === 1 && models[0].labels.length === 1);
    byId("thresholds").hidden = !main || !units.length;
  }

  #showReadings() {
    const { models, main, choices } = this.#session;
    if (!main) return;
    const model = this.#session.modelOf(main);
    fill(byId("model"), models.map(({ name }) => [name, name]), main.model);
    fill(byId("method"), model.methods.map((method) => [method, methodName(method)]), main.method);
    byId("model-field").hidden = models.length === 1;
    byId("method-field").hidden = model.methods.length === 1;
    byId("compare-open").hidden = choices.length === 1;
    this.#showLabels(model);
    this.#showChoices();
  }

  /** @param {Model} model */
  #showLabels({ labels }) {
    byId("label-field").hidden = labels.length === 1;
    /**
     * @param {string | null} label
     * @param {string} text
     */
    const choice = (label, text) => {
      const input = el("input", { type: "radio", name: "label", on: { change: () => this.#session.setLabel(label) } });
      input.checked = label === this.#session.label;
      return el("label", { class: label ? this.#session.hue(label) : null }, input, el("span", { title: text }, ...(label ? [el("i", { class: "swatch" })] : []), el("b", { text })));
    };
    byId("labels").replaceChildren(choice(null, "All"), ...labels.map((label) => choice(label, label)));
  }

  #showChoices() {
    const { readings, main } = this.#session;
    const chosen = new Set(readings.map(keyOf));
    byId("compare-open").textContent = readings.length > 1 ? `Comparing ${readings.length}` : "Compare";
    if (this.#choicesBeside !== main) this.#listChoices(); // not each time: a box may have the focus
    this.#choicesBeside = main;
    for (const box of this.#boxes) box.checked = chosen.has(keyOf(box.reading));
  }

  #listChoices() {
    const { choices, models, main } = this.#session;
    this.#boxes = choices.map((reading) => {
      const disabled = keyOf(reading) === keyOf(main);
      return Object.assign(el("input", { type: "checkbox", disabled, on: { change: () => this.#compare() } }), { reading });
    });
    const lines = this.#boxes.map((box) => {
      const { model, method } = box.reading;
      return el("label", { class: "check" }, box, models.length > 1 ? `${model}, ${methodName(method)}` : methodName(method));
    });
    byId("compare").replaceChildren(el("p", { class: "quiet", text: "One row per choice, one column per word" }), ...lines);
  }

  #compare() {
    this.#session.setCompared(this.#boxes.filter((box) => box.checked).map((box) => box.reading));
  }

  #showSliders() {
    if (!this.#session.main) return;
    this.#sliders = this.#session.shown(this.#session.main).map((label) => new ThresholdSlider(this.#session, label));
    byId("thresholds").replaceChildren(...this.#sliders.map(({ element }) => element));
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[][]} options
 * @param {string} chosen
 */
function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, text, selected: value === chosen })));
}
