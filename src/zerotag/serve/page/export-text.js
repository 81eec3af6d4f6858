// Results and corrections as text: JSON lines and TSV as `zerotag label` writes them, and as `zerotag train` reads them.

import { decimal, present } from "./dom.js";
import { SENTENCE } from "./corrections.js";
import { runs } from "./rule.js";

const NEGATIVE = "O";
const UNSAFE_LINE = /[\u0085\u2028\u2029]/g; // line breaks for some readers, though not for JSON

/**
 * Results as JSON lines: the service's records with the decisions shown; with model and method where several are compared.
 * @param {Session} session
 */
export function jsonl(session) {
  return perResult(session, (reading, unit) => {
    const record = recordOf(session, reading, unit);
    return line(session.comparing ? { ...reading, ...record } : record);
  }).join("");
}

/**
 * Results as TSV: word, scores (a column per label of each reading), label; blank lines between sentences.
 * @param {Session} session
 */
export function tsv(session) {
  return session.labelled
    .map((unit) => {
      const readings = session.readings.filter((reading) => session.result(reading, unit));
      const verdicts = allVerdicts(session, session.main, unit);
      const rows = present(session.result(session.main, unit)).words.map((word, i) => {
        const scores = readings.flatMap((reading) => Object.values(present(session.result(reading, unit)).scores).map((some) => decimal(some[i], 6)));
        return row([word.text, ...scores, cell(verdicts, i)]);
      });
      return `${rows.join("")}\n`;
    })
    .join("");
}

/**
 * Corrected sentences as `word<TAB>label`, to train on.
 * @param {Session} session
 */
export function correctionsTsv(session) {
  return corrected(session)
    .map((unit) => ({ words: present(session.result(session.main, unit)).words, verdicts: goldVerdicts(session, unit) }))
    .map(({ words, verdicts }) => `${words.map((word, i) => row([word.text, cell(verdicts, i)])).join("")}\n`)
    .join("");
}

/**
 * Corrected sentences as JSON lines with the label of the sentence, which is what its words say.
 * @param {Session} session
 */
export function correctionsJsonl(session) {
  return corrected(session).map((unit) => line(exampleOf(session, unit))).join("");
}

/**
 * A sentence with its labels and those of its words, as the library reads it: what was shown where nobody has said otherwise.
 * @param {Session} session
 * @param {Unit} unit
 */
export function exampleOf(session, unit) {
  const { text, words } = present(session.result(session.main, unit));
  const verdicts = goldVerdicts(session, unit);
  const labels = verdicts.filter(({ positive }) => positive);
  /** @param {Verdict[]} given */
  const value = (given) => (verdicts.length > 1 ? given.map(({ name }) => name) : (given[0]?.name ?? NEGATIVE));
  const wordLabels = words.map((_, i) => value(verdicts.filter((verdict) => verdict.decided[i])));
  return { text, words: words.map((word) => word.text), label: value(labels), word_labels: wordLabels };
}

/**
 * What the workspace makes files of: the records, with the rows they belong to and what a person says who has looked at them.
 * @param {Session} session
 */
export function exportRecords(session) {
  return session.labelled.map((unit) => {
    const { word_labels: gold } = session.corrections.has(unit) ? exampleOf(session, unit) : {};
    const place = unit.row === undefined ? {} : { line: unit.row + 1 };
    return line({ ...recordOf(session, session.main, unit), ...place, ...(gold ? { gold } : {}) });
  });
}

/**
 * The sentences that a person has looked at, as records of what is right.
 * @param {Session} session
 */
export function correctedRecords(session) {
  return corrected(session).map((unit) => line(recordOf(session, session.main, unit, goldVerdicts(session, unit))));
}

/**
 * The service's record with the decisions in force now. Corrections are no part of what is compared with the main reading.
 * @param {Session} session
 * @param {Reading} reading
 * @param {Unit} unit
 * @param {Verdict[]} [verdicts] of all labels
 * @returns {any}
 */
export function recordOf(session, reading, unit, verdicts = shownVerdicts(session, reading, unit)) {
  const { record, scores } = present(session.result(reading, unit));
  const several = verdicts.length > 1;
  /**
   * @param {string[]} names
   * @param {Scored} scored
   */
  const naming = (names, { scores: by = {} }) => {
    const best = names.length ? names.reduce((top, name) => (by[name] > by[top] ? name : top)) : null;
    return several ? { label: best, labels: names } : { label: best };
  };
  const words = record.words.map((word, i) => {
    const names = verdicts.filter((verdict) => verdict.decided[i]).map((verdict) => verdict.name);
    const byHand = verdicts.filter((verdict) => verdict.said.has(i)).map((verdict) => verdict.name);
    return { ...word, ...naming(names, word), ...(byHand.length ? { corrected: byHand } : {}) };
  });
  const characters = [...record.text]; // offsets count code points
  const spans = verdicts.flatMap(({ name, decided }) =>
    runs(decided).map(([first, last]) => {
      const [start, end] = [record.words[first].start, record.words[last].end];
      const score = Math.max(...scores[name].subarray(first, last + 1));
      return { text: characters.slice(start, end).join(""), start, end, label: name, score };
    }),
  );
  const positive = verdicts.filter((verdict) => verdict.positive).map((verdict) => verdict.name);
  return { ...record, ...naming(positive, record), words, spans };
}

/**
 * Verdicts of all labels, also of those that are not shown.
 * @param {Session} session
 * @param {Reading} reading
 * @param {Unit} unit
 */
function allVerdicts(session, reading, unit) {
  return present(session.judge(reading, unit, session.modelOf(reading).labels));
}

/**
 * @param {Session} session
 * @param {Reading} reading
 * @param {Unit} unit
 */
function shownVerdicts(session, reading, unit) {
  const verdicts = allVerdicts(session, reading, unit);
  return reading === session.main ? verdicts : verdicts.map((verdict) => ({ ...verdict, decided: verdict.words, said: new Map() }));
}

/**
 * Verdicts with what is right of a sentence that somebody has looked at; it has the labels that its words have.
 * @param {Session} session
 * @param {Unit} unit
 */
function goldVerdicts(session, unit) {
  return allVerdicts(session, session.main, unit).map((verdict) => {
    const decided = session.corrections.gold(unit, verdict);
    return { ...verdict, decided, positive: decided.includes(1) || Boolean(session.corrections.get(unit, SENTENCE, verdict.name)) };
  });
}

/**
 * @param {Session} session
 * @param {(reading: Reading, unit: Unit) => string} write
 */
function perResult(session, write) {
  return session.labelled.flatMap((unit) =>
    session.readings.filter((reading) => session.result(reading, unit)).map((reading) => write(reading, unit)),
  );
}

/** @param {Session} session */
function corrected(session) {
  return session.corrections.units.filter((unit) => session.result(session.main, unit));
}

/**
 * @param {Verdict[]} verdicts
 * @param {number} word
 */
function cell(verdicts, word) {
  return verdicts.filter((verdict) => verdict.decided[word]).map((verdict) => verdict.name).join("|") || NEGATIVE;
}

/** @param {string[]} cells */
function row(cells) {
  return `${cells.map(oneLine).join("\t")}\n`;
}

/**
 * Control characters made visible, so that a word is one cell.
 * @param {string} text
 */
function oneLine(text) {
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "␡" : "␤";
  });
}

/** @param {object} record */
function line(record) {
  const text = JSON.stringify(record);
  return `${text.replace(UNSAFE_LINE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
