// Which sentences are listed, and in what order: searched, filtered and sorted, with the numbers they have in the text.

import { present } from "./dom.js";
import { isUnlike } from "./gold.js";

/** @type {Record<Filter, string>} */
export const FILTERS = {
  all: "all",
  positive: "with a label",
  negative: "without a label",
  marked: "with marked words",
  silent: "a label, no marked word",
  corrected: "corrected",
  wrong: "unlike the file",
};

/** @type {Record<Order, string>} */
export const ORDERS = {
  text: "as in the text",
  highest: "highest score",
  lowest: "lowest score",
  unsure: "nearest to the threshold",
  marked: "most marked words",
};

/**
 * The numbers, from 0, of the sentences to list.
 * @param {Session} session
 * @param {Listing} listing
 * @returns {number[]}
 */
export function listed(session, { search, filter, order }) {
  const wanted = search.trim().toLocaleLowerCase();
  const numbers = [];
  for (const [number, unit] of session.units.entries()) {
    if (wanted && !unit.text.toLocaleLowerCase().includes(wanted)) continue;
    if (filter === "all" || fits(session, unit, filter)) numbers.push(number);
  }
  if (order === "text") return numbers;
  const ranks = new Map(numbers.map((number) => [number, rank(session, session.units[number], order)]));
  return numbers.sort((a, b) => present(ranks.get(b)) - present(ranks.get(a)) || a - b);
}

/**
 * @param {Session} session
 * @param {Unit} unit
 * @param {Filter} filter
 */
function fits(session, unit, filter) {
  if (filter === "corrected") return session.corrections.has(unit);
  const verdicts = session.judge(session.main, unit);
  if (!verdicts) return false;
  const isPositive = verdicts.some(({ positive }) => positive);
  switch (filter) {
    case "positive":
      return isPositive;
    case "negative":
      return !isPositive;
    case "marked":
      return verdicts.some(({ decided }) => decided.includes(1));
    case "silent":
      return verdicts.some(({ positive, decided }) => positive && !decided.includes(1));
    default:
      return isUnlike(unit, verdicts, session.modelOf(session.main).labels);
  }
}

/**
 * What sentences are sorted by, highest first; those without a result come last.
 * @param {Session} session
 * @param {Unit} unit
 * @param {Order} order
 */
function rank(session, unit, order) {
  const verdicts = session.judge(session.main, unit);
  if (!verdicts?.length) return -Infinity;
  switch (order) {
    case "highest":
      return Math.max(...verdicts.map(({ score }) => score));
    case "lowest":
      return -Math.max(...verdicts.map(({ score }) => score));
    case "unsure":
      return -Math.min(...verdicts.map(({ score, rule }) => Math.abs(score - rule.sentence_threshold)));
    default:
      return verdicts.reduce((sum, { decided }) => sum + decided.reduce((words, yes) => words + yes, 0), 0);
  }
}
