// Files that people drop: plain text, tables with commas or tabs, JSON lines, and `word<TAB>label` blocks.

import { parseCsv } from "./csv.js";
import { present } from "./dom.js";
import { textUnit, wordsUnit } from "./texts.js";

export const KINDS = [".txt", ".csv", ".jsonl", ".tsv"];
export const TABLES = [".csv", ".jsonl", ".parquet", ".xlsx"]; // that a workspace reads
const MAX_BYTES = 20_000_000;
const TEXT_NAMES = ["text", "sentence"];
const UNIT_NAMES = [...TEXT_NAMES, "words"]; // a row of JSON lines has one of them, and the next row perhaps another

/**
 * What a file holds: {name, text}, or {name, units}, or {name, columns, column, rows} where one must be chosen.
 * Throws an Error whose message is for people.
 * @param {File} file
 * @returns {Promise<FileContent>}
 */
export async function readFile(file) {
  const kind = KINDS.find((suffix) => file.name.toLowerCase().endsWith(suffix));
  if (!kind) throw new Error(`It is none of the files this page reads: ${KINDS.join(", ")}.`);
  if (file.size > MAX_BYTES) {
    throw new Error(`It has ${megabytes(file.size)}; this page reads up to ${megabytes(MAX_BYTES)}. Use “zerotag label” for more.`);
  }
  const text = await textOf(file);
  if (!text.trim()) throw new Error("It is empty.");
  try {
    const content = READERS[kind](text);
    return { name: file.name, ...content };
  } catch (error) {
    throw new Error(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`, { cause: error });
  }
}

/**
 * Whether a file is a table with a text in each row; a .tsv can also have a word in each.
 * @param {File} file
 */
export async function isTableFile(file) {
  const name = file.name.toLowerCase();
  if (!name.endsWith(".tsv")) return TABLES.some((suffix) => name.endsWith(suffix));
  return isTable(await file.slice(0, 10_000).text());
}

/**
 * The units of what `readFile` gave, from one of its columns where it has columns.
 * @param {{rows: Row[]}} table
 * @param {string} column
 * @returns {Unit[]}
 */
export function unitsOfColumn({ rows }, column) {
  const names = UNIT_NAMES.includes(column) ? [column, ...UNIT_NAMES] : [column];
  return rows.flatMap((row) => {
    const value = names.map((name) => row[name]).find((one) => one !== undefined && one !== null);
    if (typeof value === "string") return value.trim() ? [textUnit(value)] : [];
    return isWords(value) && value.length ? [wordsUnit(value)] : [];
  });
}

/** @type {Record<string, (text: string) => {text: string} | {units: Unit[]} | Table>} */
const READERS = {
  ".txt": (text) => ({ text }),
  ".csv": (text) => readCsv(text),
  ".jsonl": readJsonl,
  ".tsv": readTsv,
};

/** @param {File} file */
async function textOf(file) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (!text.includes("\0")) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new Error("It is not text in UTF-8. Save it as UTF-8 and drop it again.");
}

/**
 * @param {string} text
 * @param {string} [delimiter]
 */
function readCsv(text, delimiter) {
  const [header, ...records] = parseCsv(text, delimiter);
  const names = header.cells.map((name) => name.trim());
  const rows = records.map(({ line, cells }) => {
    if (cells.length !== names.length) {
      throw new Error(`line ${line}: ${cells.length} columns, the header has ${names.length}`);
    }
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  });
  if (!rows.length) throw new Error("line 1: a header and no rows");
  return table(names, rows);
}

/** @param {string} text */
function readJsonl(text) {
  /** @type {Row[]} */
  const rows = [];
  text.split("\n").forEach((line, i) => {
    if (!line.trim()) return;
    let row;
    try {
      row = JSON.parse(line);
    } catch {
      throw new Error(`line ${i + 1}: not valid JSON; write one object per line`);
    }
    if (row === null || typeof row !== "object" || Array.isArray(row)) throw new Error(`line ${i + 1}: not a JSON object`);
    rows.push(row);
  });
  const names = [...new Set(rows.flatMap(Object.keys))];
  const usable = names.filter((name) => rows.some((row) => typeof row[name] === "string" || isWords(row[name])));
  if (!usable.length) throw new Error("line 1: no field with a text, such as “text”, or with a list of words");
  return table(usable, rows);
}

/** @param {string} text */
function readTsv(text) {
  return isTable(text) ? readCsv(text, "\t") : readBlocks(text);
}

/**
 * Spreadsheets call something else a .tsv: a row for each sentence, below the names of the columns.
 * @param {string} text
 */
function isTable(text) {
  const [header] = text.split(/\r?\n/, 1);
  const [first, ...others] = header.toLowerCase().split("\t").map((name) => name.replaceAll('"', "").trim());
  return others.some((name) => TEXT_NAMES.includes(name)) || (TEXT_NAMES.includes(first) && others.includes("label"));
}

/** @param {string} text */
function readBlocks(text) {
  /** @type {string[][]} */
  const blocks = [[]];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]*$/.test(line)) blocks.push([]);
    else present(blocks.at(-1)).push(line.split("\t")[0]);
  }
  return { units: blocks.filter((words) => words.length).map(wordsUnit) };
}

/**
 * @param {string[]} columns
 * @param {Row[]} rows
 */
function table(columns, rows) {
  const column = UNIT_NAMES.find((name) => columns.includes(name)) ?? longest(columns, rows);
  return { columns, column, rows };
}

/**
 * The column with the most to read, which is most likely the text.
 * @param {string[]} columns
 * @param {Row[]} rows
 */
function longest(columns, rows) {
  /** @param {string} name */
  const length = (name) => rows.slice(0, 50).reduce((sum, row) => sum + String(row[name] ?? "").length, 0);
  return columns.reduce((best, name) => (length(name) > length(best) ? name : best));
}

/**
 * @param {unknown} value
 * @returns {value is string[]}
 */
function isWords(value) {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}
