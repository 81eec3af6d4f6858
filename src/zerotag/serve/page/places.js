// Where the rows of a long list are, of which most are not built: measured heights, and estimates for the others.

/** A binary indexed tree over the heights: a height is changed, and a row found, in as many steps as its number has bits. */
export class Places {
  #heights;
  #sums;
  #highest; // the largest power of two that is not above the count

  /** @param {number[]} heights */
  constructor(heights) {
    this.#heights = Float64Array.from(heights);
    this.#sums = new Float64Array(heights.length + 1);
    this.#highest = heights.length ? 2 ** Math.floor(Math.log2(heights.length)) : 0;
    for (let i = 1; i < this.#sums.length; i++) {
      this.#sums[i] += heights[i - 1];
      const parent = i + (i & -i);
      if (parent < this.#sums.length) this.#sums[parent] += this.#sums[i];
    }
  }

  get count() {
    return this.#heights.length;
  }

  get total() {
    return this.top(this.count);
  }

  /** @param {number} index */
  top(index) {
    let sum = 0;
    for (let i = index; i > 0; i -= i & -i) sum += this.#sums[i];
    return sum;
  }

  /**
   * Takes the true height of a row.
   * @param {number} index
   * @param {number} height
   */
  set(index, height) {
    const more = height - this.#heights[index];
    this.#heights[index] = height;
    for (let i = index + 1; i < this.#sums.length; i += i & -i) this.#sums[i] += more;
  }

  /**
   * The row at a place, counted from the top of the list; the first or the last where there is none.
   * @param {number} y
   */
  at(y) {
    let [index, left] = [0, y];
    for (let step = this.#highest; step; step >>= 1) {
      if (index + step > this.count || this.#sums[index + step] > left) continue;
      index += step;
      left -= this.#sums[index];
    }
    return Math.min(index, Math.max(0, this.count - 1));
  }
}
