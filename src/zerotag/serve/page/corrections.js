// What a person says of words, whatever a model says: remembered by unit, word and label, and undone step by step.

export class Corrections {
  #units = new Map(); // key of the unit → {unit, marks: Map of `word:label` → yes or no}
  #steps = [];

  /** How many words were corrected. */
  get count() {
    return [...this.#units.values()].reduce((sum, { marks }) => sum + marks.size, 0);
  }

  /** The units with corrections, in the order they were first corrected. */
  get units() {
    return [...this.#units.values()].map(({ unit }) => unit);
  }

  get canUndo() {
    return this.#steps.length > 0;
  }

  /** What a person said of a word: true, false, or undefined if nothing. */
  get(unit, word, label) {
    return this.#units.get(unit.key)?.marks.get(`${word}:${label}`);
  }

  has(unit) {
    return this.#units.has(unit.key);
  }

  /** Says the opposite of `decision`, or takes back what was said. */
  toggle(unit, word, label, decision) {
    const before = this.get(unit, word, label);
    this.#steps.push([{ unit, word, label, before }]);
    this.#set(unit, word, label, before === undefined ? !decision : undefined);
  }

  /** Takes the last step back. */
  undo() {
    for (const { unit, word, label, before } of this.#steps.pop() ?? []) this.#set(unit, word, label, before);
  }

  /** Forgets all corrections, in one step that can be undone. */
  discard() {
    const step = [...this.#units.values()].flatMap(({ unit, marks }) =>
      [...marks].map(([id, before]) => {
        const colon = id.indexOf(":");
        return { unit, word: Number(id.slice(0, colon)), label: id.slice(colon + 1), before };
      }),
    );
    this.#steps.push(step);
    this.#units.clear();
  }

  #set(unit, word, label, value) {
    const entry = this.#units.get(unit.key) ?? { unit, marks: new Map() };
    if (value === undefined) entry.marks.delete(`${word}:${label}`);
    else entry.marks.set(`${word}:${label}`, value);
    if (entry.marks.size) this.#units.set(unit.key, entry);
    else this.#units.delete(unit.key);
  }
}
