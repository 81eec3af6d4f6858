// Keeps corrections in the workspace, model by model: they come back after a reload, a crash, or in another tab.

import { exampleOf } from "./export-text.js";

const AGAIN = 3000; // milliseconds until what could not be kept is tried again

/**
 * `onState` is told whether all that was corrected is kept.
 * @param {Session} session
 * @param {Workspace} workspace
 * @param {(kept: boolean) => void} onState
 */
export function connectSync(session, workspace, onState) {
  /** @type {string | null} */
  let model = null; // whose corrections these are
  /** @type {Map<string, CorrectionRecord>} */
  let stored = new Map(); // by sentence, as the workspace has them
  let sending = false;
  const others = new BroadcastChannel("zerotag-corrections"); // tabs that show the same

  /** @param {Unit} unit */
  const isKept = (unit) => JSON.stringify(session.corrections.of(unit)) === JSON.stringify(stored.get(unit.key)?.marks ?? []);

  /**
   * Puts what the workspace has of a sentence in the place of what is here.
   * @param {Unit} unit
   */
  const take = (unit) => {
    for (const [word, label] of session.corrections.of(unit)) session.corrections.put(unit, word, label, undefined);
    const record = stored.get(unit.key);
    if (!record) return;
    const { marks, shown, example } = record;
    const wordsOf = (/** @type {number[]} */ marked) => Uint8Array.from(example.words, (_, word) => Number(marked.includes(word)));
    session.corrections.settle(unit, Object.fromEntries(Object.entries(shown ?? {}).map(([label, marked]) => [label, wordsOf(marked)])));
    for (const [word, label, yes] of marks) session.corrections.put(unit, word, label, yes);
  };

  const restore = () => {
    const found = session.units.filter((unit) => stored.has(unit.key) && !session.corrections.has(unit));
    found.forEach(take);
    if (found.length) session.announce("corrections");
  };

  const load = async () => {
    if (!workspace.on || !session.main || workspace.rootOf(session.main.model) === model) return;
    model = workspace.rootOf(session.main.model);
    stored = new Map(Object.entries(await workspace.corrections(model)));
    restore();
  };

  /** The sentences that are not kept as they are now. */
  const changed = () => {
    const units = new Map([...session.units, ...session.corrections.units].map((unit) => [unit.key, unit]));
    return [...units.values()].filter((unit) => session.result(session.main, unit) && !isKept(unit));
  };

  /** @param {Unit} unit */
  const recordOf = (unit) => {
    const marks = session.corrections.of(unit);
    if (!marks.length) return null;
    const shown = Object.entries(session.corrections.shownOf(unit)).map(([label, words]) => [label, [...words.keys()].filter((word) => words[word])]);
    return { marks, shown: Object.fromEntries(shown), example: exampleOf(session, unit) };
  };

  const send = async () => {
    if (sending || model === null || workspace.rootOf(session.main.model) !== model) return;
    sending = true;
    onState(false);
    try {
      for (let waiting = changed(); waiting.length; waiting = changed()) {
        for (const unit of waiting) {
          const record = recordOf(unit);
          await workspace.correct(model, unit.key, record);
          note(unit.key, record);
          others.postMessage({ model, key: unit.key, record });
        }
      }
      onState(true);
    } catch {
      setTimeout(send, AGAIN);
    } finally {
      sending = false;
    }
  };

  /**
   * @param {string} key
   * @param {CorrectionRecord | null} record
   */
  const note = (key, record) => {
    if (record) stored.set(key, record);
    else stored.delete(key);
  };

  others.onmessage = ({ data }) => {
    if (data.model !== model) return;
    const unit = [...session.units, ...session.corrections.units].find(({ key }) => key === data.key);
    const isOurs = unit && !isKept(unit); // what is said here, and not yet kept, is said later
    note(data.key, data.record);
    if (!unit || isOurs) return;
    take(unit);
    session.announce("corrections");
  };
  session.on("readings", load);
  workspace.addEventListener("jobs", load); // which say what was made of what
  session.on("units", restore);
  session.on("corrections", send);
}
