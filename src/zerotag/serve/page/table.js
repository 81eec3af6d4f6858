// A table with a text in each row: from rows to what is labelled, and back to a table with all its columns.

import { recordOf } from "./export-text.js";
import { goldOf } from "./gold.js";
import { textUnit, wordsUnit } from "./texts.js";

const ADDED = "zerotag_";

/**
 * The units of a table's rows, with the labels that the file gives them; rows without a text are left out.
 * @param {Row[]} rows
 * @param {TableChoice} choice
 * @returns {Unit[]}
 */
export function unitsOfRows(rows, { text, label, id, negative }) {
  return rows.flatMap((row, number) => {
    const value = row[text];
    const unit = Array.isArray(value) ? wordsUnit(value.map(String)) : typeof value === "string" && value.trim() ? textUnit(value) : null;
    if (!unit) return [];
    return [{ ...unit, row: number, id: id && row[id] !== null ? String(row[id] ?? "") : undefined, gold: label ? goldOf(row[label], label, negative) : undefined }];
  });
}

/**
 * The table as CSV with the columns that labelling adds; rows without a result have them empty.
 * @param {Session} session
 * @param {Row[]} rows
 */
export function tableCsv(session, rows) {
  const { labels } = session.modelOf(session.main);
  const scores = labels.length > 1 ? labels.map((label) => `score_${label}`) : [];
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const added = ["label", "score", ...scores, "words", "spans"].map((name) => ADDED + name);
  const byRow = new Map(session.units.map((unit) => [unit.row, unit]));
  const lines = rows.map((row, number) => {
    const unit = byRow.get(number);
    return [...columns.map((name) => row[name]), ...(unit ? addedOf(session, unit, labels) : added.map(() => null))];
  });
  return [[...columns, ...added], ...lines].map((cells) => `${cells.map(cellOf).join(",")}\r\n`).join("");
}

/**
 * @param {Session} session
 * @param {Unit} unit
 * @param {string[]} labels
 */
function addedOf(session, unit, labels) {
  const several = labels.length > 1;
  if (!session.result(session.main, unit)) return Array(4 + (several ? labels.length : 0)).fill(null);
  const record = recordOf(session, session.main, unit);
  const given = several ? record.labels : record.label === null ? [] : [record.label];
  /** @type {{text: string, label: string | null}[]} */
  const words = record.words;
  const marked = words.filter((word) => word.label !== null).map((word) => word.text);
  return [given.join("|"), record.score, ...(several ? labels.map((label) => record.scores[label]) : []), marked, record.spans];
}

/** @param {unknown} value */
function cellOf(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
