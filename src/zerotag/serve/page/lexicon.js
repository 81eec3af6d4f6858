// The words that carry a label in all that is labelled: how often, how strongly, and where. As zerotag.evaluation.lexicon.

import { present } from "./dom.js";

const CONTEXT = 60; // characters on either side of a word
const HITS = 10;

/**
 * The words of a label, those marked most often first; upper and lower case are one word.
 * @param {Session} session
 * @param {string} label
 * @returns {Lexicon}
 */
export function lexiconOf(session, label) {
  const { main, labelled } = session;
  /** @type {Map<string, number>} */
  const occurrences = new Map();
  /** @type {Map<string, Found>} */
  const found = new Map();
  const counts = { sentences: labelled.length, positive: 0, words: 0, marked: 0 };
  for (const unit of labelled) {
    const { words } = present(session.result(main, unit));
    const [{ decided, scores, positive }] = present(session.judge(main, unit, [label]));
    counts.words += words.length;
    counts.positive += Number(positive);
    words.forEach(({ text }, i) => {
      const key = text.toLowerCase();
      occurrences.set(key, (occurrences.get(key) ?? 0) + 1);
      if (decided[i]) add(found, key, text, { unit, word: i, score: scores[i] });
    });
  }
  const entries = [...found].map(([key, one]) => ({
    word: [...one.forms].reduce((most, form) => (form[1] > most[1] ? form : most))[0],
    marked: one.marked,
    occurrences: present(occurrences.get(key)),
    sentences: one.units.size,
    mean: one.total / one.marked,
    hits: best(one.hits),
  }));
  for (const { marked } of entries) counts.marked += marked;
  entries.sort((a, b) => b.marked - a.marked || b.mean - a.mean || (a.word < b.word ? -1 : 1));
  return { ...counts, entries };
}

/**
 * @param {Map<string, Found>} found
 * @param {string} key
 * @param {string} text
 * @param {Hit} hit
 */
function add(found, key, text, hit) {
  /** @type {Found} */
  const one = found.get(key) ?? { forms: new Map(), units: new Set(), marked: 0, total: 0, hits: [] };
  found.set(key, one);
  one.forms.set(text, (one.forms.get(text) ?? 0) + 1);
  one.units.add(hit.unit);
  one.marked += 1;
  one.total += hit.score;
  one.hits.push(hit);
}

/**
 * The highest scores, at most one of a sentence; of equal ones those that come first.
 * @param {Hit[]} hits
 */
function best(hits) {
  const seen = new Set();
  return hits
    .sort((a, b) => b.score - a.score)
    .filter(({ unit }) => !seen.has(unit) && seen.add(unit))
    .slice(0, HITS);
}

/**
 * What stands around a word.
 * @param {Session} session
 * @param {Hit} hit
 */
export function contextOf(session, { unit, word }) {
  const { text, words } = present(session.result(session.main, unit));
  const { from, to } = words[word];
  return { left: text.slice(Math.max(0, from - CONTEXT), from), word: text.slice(from, to), right: text.slice(to, to + CONTEXT) };
}
