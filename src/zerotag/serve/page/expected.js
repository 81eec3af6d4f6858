// What a threshold finds, measured on the sentences that a person has looked at; with intervals, for they are few.

import { present } from "./dom.js";

export const FEWEST = 5; // sentences that say anything
const STEPS = 100;
const DRAWS = 200;
const [LOW, HIGH] = [0.025, 0.975];

/**
 * Precision and recall of words at each of 101 thresholds from 0 to 1, and where F1 is best; null for too few sentences.
 * @param {Session} session
 * @param {string} label
 * @returns {Expected | null}
 */
export function expectedOf(session, label) {
  const { main, corrections } = session;
  const counted = corrections.units.flatMap((unit) => {
    const verdict = session.judge(main, unit, [label])?.[0];
    return verdict ? [countsOf(corrections.gold(unit, verdict), verdict.scores)] : [];
  });
  if (counted.length < FEWEST || !counted.some(({ gold }) => gold)) return null;
  const all = curveOf(counted);
  const random = randomNumbers();
  const draws = Array.from({ length: DRAWS }, () => curveOf(counted.map(() => counted[Math.floor(random() * counted.length)])));
  /** @param {"precision" | "recall"} name */
  const measure = (name) => all[name].map((value, step) => ({ value, ...between(draws.map((draw) => draw[name][step])) }));
  const best = between(draws.map(({ f1 }) => f1.indexOf(Math.max(...f1)) / STEPS));
  return { sentences: counted.length, precision: measure("precision"), recall: measure("recall"), best };
}

/**
 * What is expected at a threshold.
 * @param {Expected} expected
 * @param {number} threshold
 */
export function atThreshold({ precision, recall }, threshold) {
  const step = Math.max(0, Math.min(STEPS, Math.ceil(threshold * STEPS - 1e-9)));
  return { precision: precision[step], recall: recall[step] };
}

/**
 * How many words of a sentence reach each threshold, and how many of them rightly.
 * @param {Uint8Array} gold
 * @param {Float64Array} scores
 * @returns {Counts}
 */
function countsOf(gold, scores) {
  const reaching = new Array(STEPS + 1).fill(0);
  const hits = new Array(STEPS + 1).fill(0);
  scores.forEach((score, word) => {
    for (let step = 0; step <= STEPS && score >= step / STEPS; step++) {
      reaching[step] += 1;
      hits[step] += gold[word];
    }
  });
  return { reaching, hits, gold: gold.reduce((sum, yes) => sum + yes, 0) };
}

/** @param {Counts[]} counted */
function curveOf(counted) {
  const gold = counted.reduce((sum, one) => sum + one.gold, 0);
  /** @type {Record<"precision" | "recall" | "f1", number[]>} */
  const curve = { precision: [], recall: [], f1: [] };
  for (let step = 0; step <= STEPS; step++) {
    let [reaching, hits] = [0, 0];
    for (const one of counted) {
      reaching += one.reaching[step];
      hits += one.hits[step];
    }
    curve.precision.push(reaching ? hits / reaching : NaN); // where no word is marked there is no precision
    curve.recall.push(gold ? hits / gold : NaN);
    curve.f1.push((2 * hits) / Math.max(1, reaching + gold));
  }
  return curve;
}

/** @param {number[]} values */
function between(values) {
  const known = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  /** @param {number} share */
  const at = (share) => known[Math.round(share * (known.length - 1))];
  return known.length ? { low: present(at(LOW)), high: present(at(HIGH)) } : { low: NaN, high: NaN };
}

/** The same numbers from 0 to 1 each time, so that an interval does not flicker. */
function randomNumbers() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
