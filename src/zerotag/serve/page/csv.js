// CSV as RFC 4180 has it: quoted cells may hold delimiters, line breaks and doubled quotes.

const DELIMITERS = [",", ";", "\t"];

/**
 * The rows of a CSV text as [{line, cells}], blank lines left out; throws an Error with the line where it goes wrong.
 * @param {string} text
 * @param {string} [delimiter]
 * @returns {CsvRow[]}
 */
export function parseCsv(text, delimiter = delimiterOf(text)) {
  /** @type {CsvRow[]} */
  const rows = [];
  /** @type {string[]} */
  let cells = [];
  let line = 1; // where we are, and where the row started
  let rowLine = 1;
  let at = 0;

  const endRow = () => {
    if (cells.length > 1 || cells[0] !== "") rows.push({ line: rowLine, cells });
    cells = [];
  };

  while (at < text.length) {
    if (cells.length === 0) rowLine = line;
    let cell;
    if (text[at] === '"') {
      const end = closingQuote(text, at);
      if (end < 0) throw new Error(`line ${line}: a quote is opened and never closed`);
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      line += count(cell, "\n");
      at = end + 1;
      if (at < text.length && text[at] !== delimiter && !isBreak(text[at])) {
        throw new Error(`line ${line}: text after a closing quote; double the quotes inside a quoted cell`);
      }
    } else {
      const end = nextOf(text, delimiter, at);
      cell = text.slice(at, end);
      at = end;
    }
    cells.push(cell);
    if (text[at] === delimiter) {
      at += 1;
      if (at < text.length && !isBreak(text[at])) continue;
      cells.push(""); // the row ends with an empty cell
    }
    endRow();
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    line += 1;
  }
  if (cells.length) endRow();
  return rows;
}

/** @param {string} text */
function delimiterOf(text) {
  const header = text.slice(0, nextOf(text, "\n", 0));
  return DELIMITERS.reduce((best, one) => (count(header, one) > count(header, best) ? one : best));
}

/**
 * @param {string} text
 * @param {number} open
 */
function closingQuote(text, open) {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    if (text[at + 1] !== '"') return at;
    at += 1;
  }
  return -1;
}

/**
 * @param {string} text
 * @param {string} delimiter
 * @param {number} from
 */
function nextOf(text, delimiter, from) {
  let at = from;
  while (at < text.length && text[at] !== delimiter && !isBreak(text[at])) at += 1;
  return at;
}

/** @param {string} character */
function isBreak(character) {
  return character === "\n" || character === "\r";
}

/**
 * @param {string} text
 * @param {string} character
 */
function count(text, character) {
  return text.split(character).length - 1;
}
