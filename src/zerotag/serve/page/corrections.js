// What a person says of words, whatever a model says: remembered by unit, word and label, and undone step by step.

/** In the place of a word's number: the sentence itself, and that somebody has looked at it and found it right. */
export const SENTENCE = -1;
export const LOOKED_AT = -2;

export class Corrections {
  /** @type {Map<string, {unit: Unit, marks: Map<string, boolean>}>} */
  #units = new Map(); // key of the unit → {unit, marks: Map of `word:label` → yes or no}
  /** @type {Map<string, Record<string, Uint8Array>>} */
  #shown = new Map(); // key of the unit → label → what was shown of its words when somebody first looked at it
  /** @type {{unit: Unit, word: number, label: string, before: boolean | undefined}[][]} */
  #steps = [];

  /** How many words and sentences were corrected. */
  get count() {
    let count = 0;
    for (const { marks } of this.#units.values()) for (const id of marks.keys()) if (wordAndLabel(id)[0] !== LOOKED_AT) count += 1;
    return count;
  }

  /** The units that somebody has looked at, in this order: with corrections, or right as they are. */
  get units() {
    return [...this.#units.values()].map(({ unit }) => unit);
  }

  /** How many of them are right as they are. */
  get confirmed() {
    const isLookedAt = (/** @type {string} */ id) => wordAndLabel(id)[0] === LOOKED_AT;
    return [...this.#units.values()].filter(({ marks }) => [...marks.keys()].every(isLookedAt)).length;
  }

  get canUndo() {
    return this.#steps.length > 0;
  }

  /**
   * What a person said of a word: true, false, or undefined if nothing.
   * @param {Unit} unit
   * @param {number} word
   * @param {string} label
   * @returns {boolean | undefined}
   */
  get(unit, word, label) {
    return this.#units.get(unit.key)?.marks.get(`${word}:${label}`);
  }

  /** @param {Unit} unit */
  has(unit) {
    return this.#units.has(unit.key);
  }

  /**
   * What a person said of a unit's words, as [word, label, yes or no].
   * @param {Unit} unit
   * @returns {Mark[]}
   */
  of(unit) {
    return [...(this.#units.get(unit.key)?.marks ?? [])].map(([id, yes]) => [...wordAndLabel(id), yes]);
  }

  /**
   * Remembers what is shown of a unit's words before the first is corrected: what is not corrected then was right.
   * @param {Unit} unit
   * @param {Record<string, Uint8Array>} shown by label
   */
  settle(unit, shown) {
    if (!this.has(unit)) this.#shown.set(unit.key, shown);
  }

  /**
   * What was shown of a unit when somebody first looked at it.
   * @param {Unit} unit
   */
  shownOf(unit) {
    return this.#shown.get(unit.key) ?? {};
  }

  /**
   * Which words have a label as the person sees it who has looked at their sentence, wherever the threshold is now.
   * @param {Unit} unit
   * @param {{name: string, words: Uint8Array}} verdict
   */
  gold(unit, { name, words }) {
    const shown = this.shownOf(unit)[name];
    const gold = (shown?.length === words.length ? shown : words).slice();
    for (const [word, label, yes] of this.of(unit)) if (label === name && word >= 0) gold[word] = Number(yes);
    return gold;
  }

  /**
   * Says the opposite of `decision`, or takes back what was said.
   * @param {Unit} unit
   * @param {number} word
   * @param {string} label
   * @param {boolean} decision
   */
  toggle(unit, word, label, decision) {
    const before = this.get(unit, word, label);
    this.#steps.push([{ unit, word, label, before }]);
    this.put(unit, word, label, before === undefined ? !decision : undefined);
  }

  /**
   * Says the same of several words, in one step.
   * @param {Unit} unit
   * @param {number[]} words
   * @param {string} label
   * @param {boolean} value
   */
  say(unit, words, label, value) {
    this.#steps.push(words.map((word) => ({ unit, word, label, before: this.get(unit, word, label) })));
    for (const word of words) this.put(unit, word, label, value);
  }

  /** Takes the last step back. */
  undo() {
    for (const { unit, word, label, before } of this.#steps.pop() ?? []) this.put(unit, word, label, before);
  }

  /** Forgets all corrections, in one step that can be undone. */
  discard() {
    this.#steps.push(this.units.flatMap((unit) => this.of(unit).map(([word, label, before]) => ({ unit, word, label, before }))));
    this.#units.clear();
  }

  /**
   * Remembers what was said of a word, or forgets it if undefined; by itself it is no step to undo.
   * @param {Unit} unit
   * @param {number} word
   * @param {string} label
   * @param {boolean | undefined} value
   */
  put(unit, word, label, value) {
    const entry = this.#units.get(unit.key) ?? { unit, marks: new Map() };
    if (value === undefined) entry.marks.delete(`${word}:${label}`);
    else entry.marks.set(`${word}:${label}`, value);
    if (entry.marks.size) this.#units.set(unit.key, entry);
    else this.#units.delete(unit.key);
  }
}

/**
 * @param {string} id
 * @returns {[number, string]}
 */
function wordAndLabel(id) {
  const colon = id.indexOf(":");
  return [Number(id.slice(0, colon)), id.slice(colon + 1)];
}
