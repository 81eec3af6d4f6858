// Sends what has no result yet, batch by batch, and is patient with a server that is busy or away.

import { fetchModels, label, Problem } from "./api.js";
import { keyOf } from "./session.js";

const FIRST = 8; // something to look at soon
const BATCH = 64;
const SLOW_BATCH = 4; // other methods need many passes for a sentence
const BYTES = 500_000;
const LONGEST_WAIT = 30; // seconds

/** States that `onState` is told: idle, working {done, total}, stopped {done, total}, waiting {problem, seconds}, failed {problem}. */
export class Work {
  #session;
  #onState;
  #running = false;
  #stopped = false;
  /** @type {(Batch & {controller: AbortController}) | null} */
  #flight = null; // {reading, units, controller} of the request under way
  #wake = () => {};
  /** @type {Set<string>} */
  #alone = new Set(); // units whose batch was refused and that are sent one by one
  /** @type {Map<string, {units: Unit[], next: number}>} */
  #queues = new Map(); // reading → what had no result when the work was started, and where to go on

  /**
   * @param {Session} session
   * @param {(state: string, detail: any) => void} onState
   */
  constructor(session, onState) {
    this.#session = session;
    this.#onState = onState;
  }

  /** Goes on with whatever is missing now; a request that nobody waits for any more is given up. */
  start() {
    this.#stopped = false;
    this.#queues.clear();
    if (this.#flight && !this.#wanted(this.#flight)) this.#flight.controller.abort();
    this.#wake();
    if (!this.#running) this.#run();
  }

  /** Stops after what is already there. */
  stop() {
    this.#stopped = true;
    this.#flight?.controller.abort();
    this.#wake();
  }

  async #run() {
    this.#running = true;
    let failures = 0;
    let problem = null;
    for (let batch = this.#next(); batch && !this.#stopped; batch = this.#next()) {
      this.#onState("working", this.#progress());
      problem = await this.#send(batch);
      failures = problem ? failures + 1 : 0;
      if (!problem) continue;
      if (!problem.passes) break;
      await this.#wait(problem, problem.retryAfter ?? Math.min(LONGEST_WAIT, 2 ** failures));
      problem = null;
    }
    this.#running = false;
    if (problem) this.#onState("failed", { problem });
    else if (this.#stopped && this.#next()) this.#onState("stopped", this.#progress());
    else this.#onState("idle", this.#progress());
  }

  /**
   * Sends a batch; gives back the problem if there was one that concerns more than single units.
   * @param {Batch} batch
   * @returns {Promise<Problem | null>}
   */
  async #send({ reading, units }) {
    const controller = new AbortController();
    this.#flight = { reading, units, controller };
    try {
      const { revision, results } = await label(units.map((unit) => unit.words ?? unit.text), reading, controller.signal);
      if (revision !== this.#session.modelOf(reading).revision) return await this.#renewModels(reading.model, revision);
      this.#session.addResults(reading, units, results);
      return null;
    } catch (problem) {
      if (problem.name === "AbortError") return null;
      if (!(problem instanceof Problem)) throw problem;
      return this.#blame(problem, reading, units);
    } finally {
      this.#flight = null;
    }
  }

  /**
   * The model was replaced while the page was open: its labels and rules are others now.
   * @param {string} name
   * @param {string} revision
   */
  async #renewModels(name, revision) {
    const offer = await fetchModels();
    this.#session.setModels(offer);
    const isKnown = offer.models.some((model) => model.name === name && model.revision === revision);
    return isKnown ? null : new Problem("unavailable", "The model is being replaced.");
  }

  /**
   * Finds the unit that the server would not take, so that the others go on without it.
   * @param {Problem} problem
   * @param {Reading} reading
   * @param {Unit[]} units
   */
  #blame(problem, reading, units) {
    if (!["large", "invalid"].includes(problem.kind)) return problem;
    const number = Number(/^texts\[(\d+)\]/.exec(problem.where ?? "")?.[1] ?? 0);
    if (problem.where || units.length === 1) this.#session.refuse(reading, units[number], problem.message);
    else for (const unit of units) this.#alone.add(unit.key);
    return null;
  }

  /**
   * @param {Problem} problem
   * @param {number} seconds
   */
  async #wait(problem, seconds) {
    for (let left = Math.ceil(seconds); left > 0 && !this.#stopped; left--) {
      this.#onState("waiting", { problem, seconds: left });
      const woken = await new Promise((resolve) => {
        const timer = setTimeout(resolve, 1000, false);
        this.#wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
      if (woken) return;
    }
  }

  /**
   * The next batch, of units in their order: the main reading first, and slow methods last.
   * @returns {Batch | null}
   */
  #next() {
    const [main, ...others] = this.#session.readings;
    /** @param {Reading} reading */
    const isSlow = ({ method }) => Number(method !== "native");
    for (const reading of main ? [main, ...others.sort((a, b) => isSlow(a) - isSlow(b))] : []) {
      const missing = this.#missing(reading);
      if (missing.length) return { reading, units: this.#fitting(missing) };
    }
    return null;
  }

  /** @param {Unit[]} missing */
  #fitting(missing) {
    if (this.#alone.has(missing[0].key)) return missing.slice(0, 1);
    const room = Math.min(BYTES, (this.#session.limits.body_bytes ?? BYTES) / 2);
    const batch = [];
    let bytes = 0;
    for (const unit of missing) {
      bytes += 3 * unit.text.length;
      if (this.#alone.has(unit.key) || (batch.length && bytes > room)) break;
      batch.push(unit);
    }
    return batch;
  }

  /** @param {Reading} reading */
  #most(reading) {
    const isFirst = () => !this.#session.units.some((unit) => this.#session.result(reading, unit));
    const most = reading.method !== "native" ? SLOW_BATCH : isFirst() ? FIRST : BATCH;
    return Math.min(most, this.#session.limits.texts ?? BATCH);
  }

  /**
   * The queue of a reading, up to where there are results; of equal units it has the first.
   * @param {Reading} reading
   */
  #queue(reading) {
    const key = keyOf(reading);
    const queue = this.#queues.get(key) ?? { units: [...new Map(this.#session.units.map((unit) => [unit.key, unit])).values()], next: 0 };
    this.#queues.set(key, queue);
    while (queue.next < queue.units.length && !this.#isMissing(reading, queue.units[queue.next])) queue.next += 1;
    return queue;
  }

  /**
   * @param {Reading} reading
   * @param {Unit} unit
   */
  #isMissing(reading, unit) {
    return !this.#session.result(reading, unit) && !this.#session.refusal(reading, unit);
  }

  /**
   * As many as fit in a batch of the units without a result, in their order.
   * @param {Reading} reading
   */
  #missing(reading) {
    const { units, next } = this.#queue(reading);
    const most = this.#most(reading);
    const missing = [];
    for (let i = next; i < units.length && missing.length < most; i++) if (this.#isMissing(reading, units[i])) missing.push(units[i]);
    return missing;
  }

  #progress() {
    const { readings, units } = this.#session;
    const missing = readings.reduce((sum, reading) => sum + this.#left(reading), 0);
    const total = readings.length * units.length;
    return { done: total - missing, total };
  }

  /**
   * About how many units have no result: what was labelled out of order counts when its turn comes.
   * @param {Reading} reading
   */
  #left(reading) {
    const { units, next } = this.#queue(reading);
    return units.length - next;
  }

  /** @param {Batch} batch */
  #wanted({ reading, units }) {
    const readings = this.#session.readings.map(keyOf);
    const keys = new Set(units.map((unit) => unit.key));
    const isMain = readings[0] === keyOf(reading);
    const mainIsDone = !this.#left(this.#session.main);
    return (isMain || mainIsDone) && readings.includes(keyOf(reading)) && this.#session.units.some((unit) => keys.has(unit.key));
  }
}
