// Text to units, the things that are labelled: one per line, or one per sentence where a line has several.

const LINE = /[^\r\n\u0085\u2028\u2029]+/g;
const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u;
// After these a full stop does not end a sentence, though the browser's segmenter thinks so.
const ABBREVIATION = /(?:^|[\s(])(?:[\p{Lu}\p{Ll}](?:\.[\p{Lu}\p{Ll}])*|[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|vs|cf|al|[Ff]igs?|[Ee]qs?|[Nn]os?|bzw|ca|[Vv]gl|Abb|Nr|Hr|Fr|Sra?|Mme)\.\s*$/u;

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter(undefined, { granularity: "sentence" }) : null;

/**
 * A text as a unit; `start` is its offset in the document it came from.
 * @param {string} text
 * @param {number} [start]
 * @returns {Unit}
 */
export function textUnit(text, start = 0) {
  return { text, words: null, start, key: `t${text}` };
}

/**
 * Words that are already split, as a unit.
 * @param {string[]} words
 * @returns {Unit}
 */
export function wordsUnit(words) {
  return { text: words.join(" "), words, start: 0, key: `w${JSON.stringify(words)}` };
}

/**
 * The units of a text. Joined by what lies between them they are the exact text.
 * @param {string} text
 * @returns {Unit[]}
 */
export function unitsOf(text) {
  const whole = text.toWellFormed ? text.toWellFormed() : text;
  const units = [];
  for (const line of whole.matchAll(LINE)) {
    for (const [start, end] of sentences(line[0])) {
      const piece = line[0].slice(start, end);
      if (!VISIBLE.test(piece)) continue;
      const leading = piece.length - piece.trimStart().length;
      units.push(textUnit(piece.trim(), line.index + start + leading));
    }
  }
  return units;
}

/** @param {string} line */
function sentences(line) {
  if (!segmenter) return [[0, line.length]];
  /** @type {[number, number][]} */
  const found = [];
  for (const { index, segment } of segmenter.segment(line)) {
    const last = found.at(-1);
    if (last && ABBREVIATION.test(line.slice(last[0], last[1]))) last[1] = index + segment.length;
    else found.push([index, index + segment.length]);
  }
  return found;
}
