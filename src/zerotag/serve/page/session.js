// All that the page knows: models, text, results, thresholds, corrections. Views listen to it and ask it.

import { Corrections, LOOKED_AT, SENTENCE } from "./corrections.js";
import { present } from "./dom.js";
import { listed } from "./listing.js";
import { Result } from "./result.js";
import { decideSentence, decideWords, position, strongestOf } from "./rule.js";

const HUES = 8; // as many as the style sheet has; more labels use them again
const MAX_UNITS = 20_000;
const NATIVE = "native";
/** @type {Record<string, string>} */
const METHOD_NAMES = {
  native: "model scores",
  random: "random",
  lime: "LIME",
  "adaptive-lime": "LIME, adaptive",
  occlusion: "occlusion",
  "gradient-x-input": "gradient × input",
  "integrated-gradients": "integrated gradients",
};

/**
 * How people call a method.
 * @param {string} method
 */
export function methodName(method) {
  return METHOD_NAMES[method] ?? method;
}

/**
 * A model and a method on it, as one string.
 * @param {Reading} reading
 */
export function keyOf(reading) {
  return `${reading.model}\n${reading.method}`;
}

export class Session extends EventTarget {
  /** @type {Model[]} */
  models = [];
  /** @type {Limits} */
  limits = {};
  /** @type {Reading[]} */
  readings = []; // {model, method}; the first is the main one, others are compared with it
  /** @type {string | null} */
  label = null; // the one shown; null for all
  /** @type {Unit[]} */
  units = [];
  /** @type {Source | null} */
  source = null; // the file the units came from, if they did
  leftOut = 0; // units beyond the most that are shown
  /** @type {number[] | null} */
  queue = null; // numbers of the units to look at, while they are reviewed
  /** @type {number[] | null} */
  numbers = null; // of the units that are listed, in their order; null for all
  /** @type {Listing} */
  listing = { search: "", filter: "all", order: "text" };
  corrections = new Corrections();
  kept = false; // whether the workspace has all corrections
  /** @type {Map<string, string>} */
  trainedOn = new Map(); // model → the upload that it was trained on
  /** @type {Map<string, number>} */
  #hues = new Map(); // label → its number among those of all models
  /** @type {Map<string, number>} */
  #thresholds = new Map();
  /** @type {Map<string, Map<string, Result>>} */
  #results = new Map(); // reading → unit → Result
  /** @type {Map<string, Map<string, string>>} */
  #refusals = new Map(); // reading → unit → why the service does not take it
  /** @type {Map<string, Record<string, number>>} */
  #largest = new Map(); // reading → label → the largest score of any word, where a method has no scale of its own

  /**
   * Tells listeners what has changed: readings, units, results, label, thresholds, corrections, or that models were replaced.
   * @param {string} change
   * @param {object | null} [detail]
   */
  announce(change, detail = null) {
    this.dispatchEvent(new CustomEvent(change, { detail }));
  }

  /**
   * @param {string} changes
   * @param {(event: CustomEvent) => void} listener
   */
  on(changes, listener) {
    for (const change of changes.split(" ")) this.addEventListener(change, /** @type {EventListener} */ (listener));
  }

  /**
   * Takes what the service offers. It may be asked again: what is known of models that were replaced is forgotten.
   * @param {Offer} offer
   */
  setModels({ models, limits }) {
    const replaced = this.models.filter(({ name, revision }) => models.some((model) => model.name === name && model.revision !== revision));
    this.models = models;
    this.#hues = new Map([...new Set(models.flatMap((model) => model.labels))].map((label, number) => [label, number]));
    this.limits = limits ?? {};
    for (const { name } of replaced) this.#forgetModel(name);
    const offered = new Set(this.choices.map(keyOf));
    const first = models.find((model) => model.default) ?? models[0];
    this.readings = this.readings.filter((reading) => offered.has(keyOf(reading)));
    if (!this.readings.length && first) this.readings = [{ model: first.name, method: first.methods[0] }];
    if (!this.main || !this.#offers(this.main)) this.label = null;
    this.announce("readings");
    if (replaced.length) this.announce("replaced");
  }

  /** @param {string} name */
  #forgetModel(name) {
    for (const known of [this.#results, this.#refusals, this.#thresholds, this.#largest]) {
      for (const key of known.keys()) if (key.startsWith(`${name}\n`)) known.delete(key);
    }
  }

  get main() {
    return this.readings[0];
  }

  get comparing() {
    return this.readings.length > 1;
  }

  /**
   * @param {Reading} reading
   * @returns {Model}
   */
  modelOf(reading) {
    return present(this.models.find((model) => model.name === reading.model));
  }

  /** Every pair of a model and one of its methods. */
  get choices() {
    return this.models.flatMap((model) => model.methods.map((method) => ({ model: model.name, method })));
  }

  /** @param {Reading} reading */
  #offers(reading) {
    return this.label !== null && this.modelOf(reading).labels.includes(this.label);
  }

  /** @param {Reading} reading */
  setMain(reading) {
    const others = this.readings.slice(1).filter((other) => keyOf(other) !== keyOf(reading));
    this.readings = [reading, ...others];
    if (!this.#offers(reading)) this.label = null;
    this.announce("readings");
  }

  /** @param {Reading[]} readings */
  setCompared(readings) {
    this.readings = [this.main, ...readings.filter((other) => keyOf(other) !== keyOf(this.main))];
    this.announce("readings");
  }

  /** @param {string | null} label */
  setLabel(label) {
    this.label = label;
    this.announce("label");
  }

  /**
   * @param {Unit[]} units
   * @param {Source | null} [source]
   */
  setUnits(units, source = null) {
    this.units = units.slice(0, MAX_UNITS);
    this.leftOut = units.length - this.units.length;
    this.source = source;
    this.queue = null;
    this.#list();
    this.announce("units");
  }

  /**
   * Lists other sentences, or in another order.
   * @param {Partial<Listing>} change
   */
  list(change) {
    Object.assign(this.listing, change);
    this.#list();
    this.announce("listed");
  }

  /** Lists what fits now: decisions have changed since. A list that is only searched stays as it is. */
  relist() {
    const { filter, order } = this.listing;
    if (filter !== "all" || order !== "text") this.list({});
  }

  #list() {
    const { search, filter, order } = this.listing;
    if (this.queue) {
      const fitting = new Set(listed(this, this.listing));
      this.numbers = this.queue.filter((number) => fitting.has(number));
      return;
    }
    this.numbers = !search && filter === "all" && order === "text" ? null : listed(this, this.listing);
  }

  /**
   * Lists the sentences to look at, in their order, whatever was searched before; null for all again.
   * @param {number[] | null} queue
   */
  review(queue) {
    this.queue = queue;
    this.list({ search: "", filter: "all" });
    this.announce("review");
  }

  /** How many sentences are listed. */
  get listedCount() {
    return this.numbers?.length ?? this.units.length;
  }

  /**
   * The labels of a reading that are shown.
   * @param {Reading} reading
   */
  shown(reading) {
    const { labels } = this.modelOf(reading);
    return this.label !== null && labels.includes(this.label) ? [this.label] : labels;
  }

  /** @param {string} label */
  hue(label) {
    return `k${present(this.#hues.get(label)) % HUES}`;
  }

  /**
   * The rule that the service decides by: the model's is for its own scores, and other methods have another.
   * @param {Reading} reading
   * @param {string} label
   */
  serviceRule(reading, label) {
    return this.modelOf(reading).rules_by_method[reading.method][label];
  }

  /**
   * The rule in force: the service's, with the threshold where the person has put it.
   * @param {Reading} reading
   * @param {string} label
   */
  rule(reading, label) {
    const rule = this.serviceRule(reading, label);
    const threshold = this.#thresholds.get(`${keyOf(reading)}\n${label}`);
    return threshold === undefined ? rule : { ...rule, word_threshold: threshold };
  }

  /**
   * Moves the word threshold of the main reading; null puts it back where the service has it.
   * @param {string} label
   * @param {number | null} threshold
   */
  setThreshold(label, threshold) {
    const key = `${keyOf(this.main)}\n${label}`;
    if (threshold === null || threshold === this.serviceRule(this.main, label).word_threshold) this.#thresholds.delete(key);
    else this.#thresholds.set(key, threshold);
    this.announce("thresholds");
  }

  /** The thresholds of the main reading that were moved, by label. */
  get moved() {
    const moved = this.modelOf(this.main).labels.map((label) => [label, this.#thresholds.get(`${keyOf(this.main)}\n${label}`)]);
    return Object.fromEntries(moved.filter(([, threshold]) => threshold !== undefined));
  }

  /** The units for which the main reading has a result. */
  get labelled() {
    return this.units.filter((unit) => this.result(this.main, unit));
  }

  /**
   * @param {Reading} reading
   * @param {Unit} unit
   * @returns {Result | undefined}
   */
  result(reading, unit) {
    return this.#results.get(keyOf(reading))?.get(unit.key);
  }

  /**
   * @param {Reading} reading
   * @param {Unit[]} units
   * @param {LabelRecord[]} records
   */
  addResults(reading, units, records) {
    const model = this.modelOf(reading);
    const known = this.#results.get(keyOf(reading)) ?? new Map();
    this.#results.set(keyOf(reading), known);
    units.forEach((unit, i) => known.set(unit.key, new Result(records[i], model.labels)));
    if (known.size > 2 * MAX_UNITS) this.#forget(known);
    this.announce("results", { units });
    if (reading.method !== NATIVE && this.#widen(reading, units)) this.announce("scale");
  }

  /**
   * Takes new results into the scale of a method; says whether it has changed.
   * @param {Reading} reading
   * @param {Unit[]} units
   */
  #widen(reading, units) {
    const before = this.#largest.get(keyOf(reading)) ?? {};
    const largest = { ...before };
    for (const unit of units) {
      for (const [label, scores] of Object.entries(present(this.result(reading, unit)).scores)) {
        for (const score of scores) largest[label] = Math.max(largest[label] ?? 0, Math.abs(score));
      }
    }
    this.#largest.set(keyOf(reading), largest);
    return Object.entries(largest).some(([label, score]) => score !== before[label]);
  }

  /**
   * The score that has the fullest shade: one for all sentences, so that shades can be compared.
   * @param {Reading} reading
   * @param {string} label
   */
  fullest(reading, label) {
    if (reading.method === NATIVE) return Math.max(1, this.serviceRule(reading, label).word_threshold);
    return this.#largest.get(keyOf(reading))?.[label] || 1;
  }

  /** @param {Map<string, Result>} known */
  #forget(known) {
    const wanted = new Set(this.units.map((unit) => unit.key));
    for (const key of known.keys()) if (!wanted.has(key)) known.delete(key);
  }

  /**
   * Why a reading of a unit cannot be had, if it cannot.
   * @param {Reading} reading
   * @param {Unit} unit
   * @returns {string | undefined}
   */
  refusal(reading, unit) {
    const { characters } = this.limits;
    if (characters && unit.text.length > characters) {
      const length = [...unit.text].length; // the service counts code points
      if (length > characters) return tooLong(length, characters);
    }
    return this.#refusals.get(keyOf(reading))?.get(unit.key);
  }

  /**
   * @param {Reading} reading
   * @param {Unit} unit
   * @param {string} reason
   */
  refuse(reading, unit, reason) {
    const known = this.#refusals.get(keyOf(reading)) ?? new Map();
    this.#refusals.set(keyOf(reading), known.set(unit.key, reason));
    this.announce("results", { units: [unit] });
  }

  /**
   * What a reading says of a unit, label by label, with corrections; undefined while there is no result.
   * @param {Reading} reading
   * @param {Unit} unit
   * @param {string[]} [labels]
   * @returns {Verdict[] | undefined}
   */
  judge(reading, unit, labels = this.shown(reading)) {
    const result = this.result(reading, unit);
    if (!result) return undefined;
    const all = this.modelOf(reading).labels;
    if (!this.rule(reading, all[0]).exclusive) return labels.map((name) => this.#verdict(reading, unit, result, name));
    const verdicts = all.map((name) => this.#verdict(reading, unit, result, name));
    keepStrongest(verdicts);
    return verdicts.filter(({ name }) => labels.includes(name));
  }

  /**
   * @param {Reading} reading
   * @param {Unit} unit
   * @param {Result} result
   * @param {string} name
   * @returns {Verdict}
   */
  #verdict(reading, unit, result, name) {
    const rule = this.rule(reading, name);
    const score = result.sentence[name];
    const scores = result.scores[name];
    const words = decideWords(rule, scores);
    /** @type {Map<number, boolean>} */
    const said = new Map();
    if (this.corrections.has(unit)) {
      for (let i = 0; i < words.length; i++) {
        const correction = this.corrections.get(unit, i, name);
        if (correction !== undefined) said.set(i, correction);
      }
    }
    const decided = said.size ? words.slice() : words; // `words` stays what the rule says
    for (const [i, correction] of said) decided[i] = Number(correction);
    const byModel = decideSentence(rule, score);
    const positive = this.corrections.get(unit, SENTENCE, name) ?? byModel;
    const strength = this.#strength(reading, name, scores);
    return { name, hue: this.hue(name), rule, score, scores, positive, byModel, words, decided, said, strength };
  }

  /**
   * How strongly a word is shaded, from 0 to 1. The model's own scores are placed around its calibrated threshold;
   * scores of other methods have no scale of their own and are measured against the largest in all sentences.
   * @param {Reading} reading
   * @param {string} label
   * @param {Float64Array} scores
   * @returns {(word: number) => number}
   */
  #strength(reading, label, scores) {
    if (reading.method === NATIVE) {
      const { word_threshold: threshold } = this.serviceRule(reading, label);
      return (i) => position(scores[i], threshold);
    }
    const largest = this.fullest(reading, label);
    return (i) => Math.max(0, scores[i] / largest);
  }

  /** @param {Unit} unit */
  #settle(unit) {
    const verdicts = this.judge(this.main, unit, this.modelOf(this.main).labels) ?? [];
    this.corrections.settle(unit, Object.fromEntries(verdicts.map(({ name, words }) => [name, words.slice()])));
  }

  /**
   * Corrections that came with a link: [number of the unit, word, label, yes or no].
   * @param {[number, ...Mark][]} corrections
   */
  restoreCorrections(corrections) {
    for (const [number, word, label, yes] of corrections) {
      if (this.units[number]) this.corrections.put(this.units[number], word, label, yes);
    }
    this.announce("corrections");
  }

  /**
   * @param {Unit} unit
   * @param {number} word
   * @param {string} label
   */
  correct(unit, word, label) {
    const verdict = present(this.judge(this.main, unit)?.find(({ name }) => name === label));
    this.#settle(unit);
    this.corrections.toggle(unit, word, label, Boolean(verdict.words[word]));
    this.announce("corrections");
  }

  /**
   * Says of a sentence the opposite of what is shown.
   * @param {Unit} unit
   * @param {string} label
   */
  correctSentence(unit, label) {
    const verdict = present(this.judge(this.main, unit)?.find(({ name }) => name === label));
    this.#settle(unit);
    this.corrections.toggle(unit, SENTENCE, label, verdict.byModel);
    this.announce("corrections");
  }

  /**
   * Gives or takes a label from the words of a phrase.
   * @param {Unit} unit
   * @param {number[]} words
   * @param {string} label
   * @param {boolean} value
   */
  correctPhrase(unit, words, label, value) {
    this.#settle(unit);
    this.corrections.say(unit, words, label, value);
    this.announce("corrections");
  }

  /**
   * Notes that a sentence was looked at and is right as it is, or takes that back.
   * @param {Unit} unit
   */
  confirm(unit) {
    this.#settle(unit);
    this.corrections.toggle(unit, LOOKED_AT, "", false);
    this.announce("corrections");
  }

  undo() {
    this.corrections.undo();
    this.announce("corrections");
  }

  discardCorrections() {
    this.corrections.discard();
    this.announce("corrections");
  }
}

/**
 * Has a sentence, and each word, only the strongest of its labels; what a person said stays.
 * @param {Verdict[]} verdicts of all labels, which exclude one another
 */
function keepStrongest(verdicts) {
  const positive = strongestOf(verdicts.map((verdict) => verdict.positive), verdicts.map(({ score }) => score));
  verdicts.forEach((verdict, k) => (verdict.positive = verdict.byModel = k === positive));
  for (let word = 0; word < verdicts[0].words.length; word++) {
    const best = strongestOf(verdicts.map(({ words }) => words[word] === 1), verdicts.map(({ scores }) => scores[word]));
    verdicts.forEach((verdict, k) => {
      verdict.words[word] = Number(k === best);
      if (!verdict.said.has(word)) verdict.decided[word] = Number(k === best);
    });
  }
}

/**
 * @param {number} length
 * @param {number} limit
 */
function tooLong(length, limit) {
  return `${length.toLocaleString("en")} characters; the server takes ${limit.toLocaleString("en")} at once. Split this text.`;
}
