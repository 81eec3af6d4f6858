// A table with a text in each row: from rows to what is labelled.

import { goldOf } from "./gold.js";
import { textUnit, wordsUnit } from "./texts.js";

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
