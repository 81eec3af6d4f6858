// Where the rows of a long list are, of which most are not built: measured heights, and estimates for the others.

export class Places {
  #tops = new Float64Array(1);

  /** @param {number[]} heights */
  constructor(heights) {
    this.#tops = new Float64Array(heights.length + 1);
    heights.forEach((height, i) => (this.#tops[i + 1] = this.#tops[i] + height));
  }

  get count() {
    return this.#tops.length - 1;
  }

  get total() {
    return this.#tops[this.count];
  }

  /** @param {number} index */
  top(index) {
    return this.#tops[index];
  }

  /**
   * The row at a place, counted from the top of the list; the first or the last where there is none.
   * @param {number} y
   */
  at(y) {
    let [low, high] = [0, Math.max(0, this.count - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
