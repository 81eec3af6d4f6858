// The labels that a file gives its sentences, beside what a model says.

import { precisionRecall } from "./rates.js";

const NONE = new Set(["", "0", "o", "c", "false", "no"]);
const YES = new Set(["1", "true", "yes"]);

/**
 * The labels that a cell means, as the library reads it; a plain yes is the label that the column is called after.
 * @param {unknown} cell
 * @param {string} column
 * @param {string | null} negative
 * @returns {string[] | undefined}
 */
export function goldOf(cell, column, negative) {
  if (cell === null || cell === undefined || cell === "") return undefined;
  const values = (Array.isArray(cell) ? cell : String(cell).split("|")).map((value) => String(value).trim());
  return values.filter((value) => value !== negative && !NONE.has(value.toLowerCase())).map((value) => (YES.has(value.toLowerCase()) ? column : value));
}

/**
 * Whether a file gives a unit a label; a model with one label means that one, whatever the file calls it.
 * @param {Unit} unit
 * @param {string} label
 * @param {string[]} labels
 */
export function goldHas({ gold }, label, labels) {
  return Boolean(gold?.length && (labels.length === 1 || gold.includes(label)));
}

/**
 * Whether a file and the verdicts differ about any label.
 * @param {Unit} unit
 * @param {Verdict[]} verdicts
 * @param {string[]} labels of the model
 */
export function isUnlike(unit, verdicts, labels) {
  return unit.gold !== undefined && verdicts.some(({ name, byModel }) => goldHas(unit, name, labels) !== byModel);
}

/**
 * How verdicts compare with the file, in words; nothing where the file has no labels.
 * @param {Session} session
 */
export function comparison(session) {
  const { main, units } = session;
  const { labels } = session.modelOf(main);
  const known = session.source?.table !== undefined && session.trainedOn.get(main.model) === session.source.table.id;
  const parts = session.shown(main).flatMap((label) => {
    const pairs = units.flatMap((unit) => {
      const verdict = unit.gold === undefined ? undefined : session.judge(main, unit, [label])?.[0];
      return verdict ? [{ gold: goldHas(unit, label, labels), said: verdict.byModel }] : [];
    });
    if (!pairs.length) return [];
    const right = pairs.filter(({ gold, said }) => gold === said).length;
    const { precision, recall } = precisionRecall(pairs);
    const name = labels.length > 1 ? `${label}: ` : "";
    return [`${name}${right.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} as in the file (precision ${percent(precision)}, recall ${percent(recall)})`];
  });
  return `${parts.join(" · ")}${known && parts.length ? "; it was trained on these" : ""}`;
}

/** @param {number | null} share */
function percent(share) {
  return share === null ? "–" : `${(100 * share).toFixed(0)}\u00a0%`;
}
