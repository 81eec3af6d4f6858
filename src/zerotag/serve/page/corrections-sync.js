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
  /** @type {Map<string, Mark[]>} */
  let stored = new Map(); // sentence → marks, as the workspace has them
  let sending = false;

  const restore = () => {
    let found = false;
    for (const unit of session.units) {
      const marks = stored.get(unit.key);
      if (!marks || session.corrections.has(unit)) continue;
      for (const [word, label, yes] of marks) session.corrections.put(unit, word, label, yes);
      found = true;
    }
    if (found) session.announce("corrections");
  };

  const load = async () => {
    if (!workspace.on || !session.main || workspace.rootOf(session.main.model) === model) return;
    model = workspace.rootOf(session.main.model);
    const records = await workspace.corrections(model);
    stored = new Map(Object.entries(records).map(([key, { marks }]) => [key, marks]));
    restore();
  };

  /** The sentences that are not kept as they are now. */
  const changed = () => {
    const units = new Map([...session.units, ...session.corrections.units].map((unit) => [unit.key, unit]));
    return [...units.values()].filter((unit) => {
      const now = session.corrections.of(unit);
      return session.result(session.main, unit) && JSON.stringify(now) !== JSON.stringify(stored.get(unit.key) ?? []);
    });
  };

  const send = async () => {
    if (sending || model === null || workspace.rootOf(session.main.model) !== model) return;
    sending = true;
    onState(false);
    try {
      for (let waiting = changed(); waiting.length; waiting = changed()) {
        for (const unit of waiting) {
          const marks = session.corrections.of(unit);
          await workspace.correct(model, unit.key, marks.length ? { marks, example: exampleOf(session, unit) } : null);
          if (marks.length) stored.set(unit.key, marks);
          else stored.delete(unit.key);
        }
      }
      onState(true);
    } catch {
      setTimeout(send, AGAIN);
    } finally {
      sending = false;
    }
  };

  session.on("readings", load);
  workspace.addEventListener("jobs", load); // which say what was made of what
  session.on("units", restore);
  session.on("corrections", send);
}
