// A unit as a heat map: a column per word, a row per model and method, broken into lines that fit the page.

import { decimal, directionOf, el, hidden, present } from "./dom.js";
import { methodName } from "./session.js";
import { dressWord, lookOf, toShow, wordElement } from "./words-view.js";

const NARROWEST = 38; // pixels: room for a score
const NARROW_PAGE = 560; // below it, names stand above their cells
const PADDING = 14;
const GAP = 2;

const pen = present(document.createElement("canvas").getContext("2d"));

/**
 * How a reading is called beside its row: by its method, and by its model where there are several.
 * @param {Session} session
 * @param {Reading} reading
 */
export function readingName(session, reading) {
  const severalModels = new Set(session.readings.map(({ model }) => model)).size > 1;
  return severalModels ? `${reading.model}, ${methodName(reading.method)}` : methodName(reading.method);
}

/**
 * Which words go on which line: a list of lists of word numbers.
 * @param {number[]} widths
 * @param {number} room
 */
export function linesOf(widths, room) {
  /** @type {number[][]} */
  const lines = [[]];
  let used = 0;
  widths.forEach((width, word) => {
    if (used + width > room && present(lines.at(-1)).length) {
      lines.push([]);
      used = 0;
    }
    present(lines.at(-1)).push(word);
    used += width + GAP;
  });
  return lines;
}

/**
 * Builds a unit's view; `width` is the room there is, `font` that of the words.
 * @param {Session} session
 * @param {Unit} unit
 * @param {{width: number, font: string}} measures
 * @returns {View}
 */
export function buildHeat(session, unit, { width, font }) {
  const { readings } = session;
  const { words } = present(session.result(session.main, unit));
  const header = width < NARROW_PAGE ? 0 : 212;
  pen.font = font;
  const widths = words.map(({ text }) => Math.min(width - header - GAP, Math.max(NARROWEST, Math.ceil(pen.measureText(text).width) + PADDING)));
  /** @type {HTMLElement[]} */
  const heads = [];
  /** @type {HTMLElement[][]} */
  const cells = readings.map(() => []);
  /** @type {HTMLElement[][]} */
  const names = readings.map(() => []);
  const node = el("div", { class: "heat" }, el("span", { class: "number" }));
  const dir = directionOf(unit.text);
  linesOf(widths, width - header).forEach((line, number) => {
    const top = el("tr", {}, ...(header ? [el("td", { style: { width: `${header}px` } })] : []));
    for (const word of line) {
      const head = wordElement(words[word].text, word);
      heads.push(head);
      top.append(el("th", { scope: "col", style: { width: `${widths[word]}px` } }, head));
    }
    const rows = readings.flatMap((_, r) => {
      const name = header ? el("th", { scope: "row" }) : el("th", { scope: "rowgroup", colspan: Math.min(3, line.length), class: "above" });
      names[r].push(name);
      const row = el("tr", {}, ...(header ? [name] : []));
      for (const word of line) {
        const cell = el("td", { class: "cell", tabindex: -1, "data-word": word, "data-reading": r });
        cells[r].push(cell);
        row.append(cell);
      }
      return header ? [row] : [el("tr", { hidden: number > 0 }, name), row]; // the order of the first line holds for all
    });
    const total = line.reduce((sum, word) => sum + widths[word] + GAP, header + GAP);
    const caption = el("caption", { class: "hidden", text: `Word scores: ${line.map((word) => words[word].text).join(" ")}` });
    node.append(el("table", { dir, style: { width: `${total}px` } }, caption, el("thead", {}, top), el("tbody", {}, ...rows)));
  });
  const dress = () => {
    readings.forEach((reading, r) => dressRow(session, unit, reading, names[r], cells[r]));
    const verdicts = present(session.judge(session.main, unit));
    heads.forEach((head, word) => dressWord(head, word, verdicts));
  };
  return { node, lines: [heads, ...cells], dress };
}

/**
 * @param {Session} session
 * @param {Unit} unit
 * @param {Reading} reading
 * @param {HTMLElement[]} names
 * @param {HTMLElement[]} cells
 */
function dressRow(session, unit, reading, names, cells) {
  const verdicts = session.judge(reading, unit);
  const name = readingName(session, reading);
  const marks = showsMarks(session, reading);
  names.forEach((element) => element.replaceChildren(el("span", { class: "name", text: name }), ...verdictOf(verdicts, session.refusal(reading, unit))));
  cells.forEach((cell, word) => {
    if (!verdicts) {
      cell.className = "cell pending";
      cell.replaceChildren();
      return;
    }
    const look = cellLook(verdicts, word);
    const marked = marks && look.words[word];
    cell.className = marked ? `cell ${look.hue} yes` : `cell ${look.hue}`;
    cell.style.setProperty("--strength", look.strength(word).toFixed(2));
    cell.replaceChildren(decimal(look.scores[word], 2), ...(marked ? [hidden(`, ${look.name}`)] : []));
  });
}

/**
 * Whether decisions are drawn: other methods have scales of their own, and only the main reading's threshold can be moved to fit.
 * @param {Session} session
 * @param {Reading} reading
 */
export function showsMarks(session, reading) {
  return reading === session.main || reading.method === "native";
}

/**
 * The verdict a cell is shaded for; corrections are no part of what a method says.
 * @param {Verdict[]} verdicts
 * @param {number} word
 */
export function cellLook(verdicts, word) {
  return lookOf(word, verdicts.filter((verdict) => verdict.words[word]), verdicts);
}

/**
 * @param {Verdict[] | undefined} verdicts
 * @param {string | undefined} refusal
 */
function verdictOf(verdicts, refusal) {
  if (!verdicts) return [el("span", { class: "score", text: refusal ? "not available" : "…" })];
  const [look] = toShow(verdicts);
  return [
    el("span", { class: look.positive ? "score yes" : "score", text: decimal(look.score, 2) }),
    hidden(look.positive ? `, ${look.name}: yes` : `, ${look.name}: no`),
  ];
}
