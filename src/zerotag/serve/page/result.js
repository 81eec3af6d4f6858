// What a method said of a unit, ready for quick decisions: one array of word scores per label.

/** A record of the service with its scores by label; word offsets count UTF-16 units, as JavaScript strings do. */
export class Result {
  /**
   * @param {LabelRecord} record
   * @param {string[]} labels
   */
  constructor(record, labels) {
    /** @param {Scored} scored */
    const scoresOf = (scored) => scored.scores ?? { [labels[0]]: scored.score };
    const offset = offsets(record.text);
    this.record = record;
    this.text = record.text;
    this.words = record.words.map((word) => ({ text: word.text, from: offset(word.start), to: offset(word.end) }));
    this.sentence = scoresOf(record);
    this.scores = Object.fromEntries(
      labels.map((label) => [label, Float64Array.from(record.words, (word) => scoresOf(word)[label])]),
    );
  }

  /**
   * The text in order, as [string, word number], with null for what stands between words.
   * @returns {Generator<[string, number | null]>}
   */
  *pieces() {
    let end = 0;
    for (const [number, word] of this.words.entries()) {
      if (word.from > end) yield [this.text.slice(end, word.from), null];
      yield [this.text.slice(word.from, word.to), number];
      end = word.to;
    }
    if (end < this.text.length) yield [this.text.slice(end), null];
  }
}

/**
 * From offsets in code points, as the service counts, to offsets in UTF-16.
 * @param {string} text
 * @returns {(codePoints: number) => number}
 */
function offsets(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (codePoints) => codePoints;
  /** @type {number[]} */
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return (codePoints) => starts[codePoints];
}
