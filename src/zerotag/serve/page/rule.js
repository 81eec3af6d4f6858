// How scores become yes or no. The same arithmetic as zerotag.types.Rule; a test compares the two.

/**
 * One 0 or 1 per word, for the word scores of one sentence and one label.
 * @param {Rule} rule
 * @param {Float64Array} scores
 */
export function decideWords(rule, scores) {
  const decisions = new Uint8Array(scores.length);
  for (let i = 0; i < scores.length; i++) decisions[i] = scores[i] >= rule.word_threshold ? 1 : 0;
  return decisions;
}

/**
 * Of labels that exclude one another, the strongest of those given: as `zerotag.decisions` has it.
 * @param {boolean[]} given by label
 * @param {number[]} scores by label
 */
export function strongestOf(given, scores) {
  return given.reduce((best, yes, k) => (yes && (best < 0 || scores[k] > scores[best]) ? k : best), -1);
}

/**
 * Whether a sentence has the label.
 * @param {Rule} rule
 * @param {number} score
 */
export function decideSentence(rule, score) {
  return score >= rule.sentence_threshold;
}

/**
 * Place of a score on a scale from 0 to 1 whose middle is the threshold: the scale of the static HTML report.
 * @param {number} score
 * @param {number} threshold
 */
export function position(score, threshold) {
  if (score < threshold) {
    const bottom = threshold > 0 ? 0 : threshold - 1;
    return Math.max(0, (0.5 * (score - bottom)) / (threshold - bottom));
  }
  const top = threshold < 1 ? 1 : 2 * threshold;
  return Math.min(1, 0.5 + (0.5 * (score - threshold)) / (top - threshold));
}

/**
 * Runs of neighbouring words that are decided positively, as [first, last] word numbers.
 * @param {Uint8Array} decisions
 */
export function runs(decisions) {
  const found = [];
  let first = -1;
  for (let i = 0; i <= decisions.length; i++) {
    if (decisions[i] && first < 0) first = i;
    if (!decisions[i] && first >= 0) {
      found.push([first, i - 1]);
      first = -1;
    }
  }
  return found;
}
