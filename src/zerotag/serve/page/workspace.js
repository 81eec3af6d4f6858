// The workspace behind the page: tables that were uploaded, trainings, corrections. Where there is none, `on` stays false.

import { ask } from "./api.js";
import { debounced } from "./dom.js";

const OFTEN = 1000; // milliseconds between two looks at trainings that are under way
const SELDOM = 10_000; // another tab may have started one
const ACTIVE = ["queued", "running"];

/** Tells listeners of "jobs" when trainings have come further, and of "done" (with the job) when one has ended well. */
export class Workspace extends EventTarget {
  on = false;
  /** @type {Job[]} */
  jobs = [];
  /** @type {string | null} */
  #token = null;
  #look = debounced(() => this.#refresh(), OFTEN);
  #lookSeldom = debounced(() => this.#refresh(), SELDOM);

  /** Finds out whether there is one, and what is under way. */
  async open() {
    try {
      const { token } = await ask("v1/workspace");
      this.#token = token;
      this.on = true;
    } catch (problem) {
      if (problem.kind !== "failed") throw problem; // a service without a workspace knows no such address
      return;
    }
    await this.#refresh();
  }

  /**
   * @param {File} file
   * @returns {Promise<TableSummary>}
   */
  upload(file) {
    return this.#send("POST", `uploads?name=${encodeURIComponent(file.name)}`, file);
  }

  /**
   * The demonstration's sentences as a table.
   * @returns {Promise<TableSummary>}
   */
  demo() {
    return this.#send("POST", "demo");
  }

  /**
   * @param {string} id
   * @returns {Promise<TableSummary>}
   */
  table(id) {
    return ask(`v1/workspace/uploads/${id}`);
  }

  /**
   * @param {string} id
   * @returns {Promise<Row[]>}
   */
  async rows(id) {
    const { rows } = await ask(`v1/workspace/uploads/${id}/rows`);
    return rows;
  }

  /**
   * What a training on some columns would learn from.
   * @param {string} id
   * @param {Choice} choice
   * @returns {Promise<Check>}
   */
  check(id, choice) {
    return this.#send("POST", `uploads/${id}/check`, choice);
  }

  /**
   * @param {string} upload
   * @param {string} name
   * @param {Choice} choice
   */
  async train(upload, name, choice) {
    await this.#send("POST", "jobs", { upload, name, ...choice });
    await this.#refresh();
  }

  /**
   * The model that others were made of with corrections: these are kept under its name, and it has seen none of them.
   * @param {string} model
   * @returns {string}
   */
  rootOf(model) {
    const of = this.jobs.find(({ name, state, settings }) => name === model && state === "done" && settings.of)?.settings.of;
    return of === undefined ? model : this.rootOf(of);
  }

  /**
   * Makes a model of another one and what was corrected of it.
   * @param {string} model
   * @param {string} name
   * @param {(string | string[])[]} texts
   */
  async improve(model, name, texts) {
    await this.#send("POST", "improve", { model, name, texts });
    await this.#refresh();
  }

  /**
   * The numbers of the texts that are most worth looking at, in order.
   * @param {string} model
   * @param {(string | string[])[]} texts
   * @returns {Promise<number[]>}
   */
  async suggest(model, texts) {
    const { numbers } = await this.#send("POST", "suggest", { model, texts });
    return numbers;
  }

  /**
   * What is shown as a file that the library writes.
   * @param {{format: string, model: string, title: string, rules: Rule[]}} wanted
   * @param {string | undefined} upload whose rows and columns the file has
   * @param {string[]} records
   * @returns {Promise<Blob>}
   */
  export(wanted, upload, records) {
    const table = upload ? `&upload=${upload}` : "";
    return this.#send("POST", `export?given=${encodeURIComponent(JSON.stringify(wanted))}${table}`, new Blob(records), "blob");
  }

  /** @param {Job} job */
  async cancel({ id }) {
    await this.#send("POST", `jobs/${id}/cancel`);
    await this.#refresh();
  }

  /** @param {Job} job */
  async forget({ id }) {
    await this.#send("DELETE", `jobs/${id}`);
    await this.#refresh();
  }

  /** @param {Job} job */
  async log({ id }) {
    return await ask(`v1/workspace/jobs/${id}/log`, { as: "text" });
  }

  /**
   * @param {string} model
   * @returns {Promise<Record<string, CorrectionRecord>>}
   */
  async corrections(model) {
    const { corrections } = await ask(`v1/workspace/corrections/${model}`);
    return corrections;
  }

  /**
   * @param {string} model
   * @param {string} sentence
   * @param {CorrectionRecord | null} record
   */
  async correct(model, sentence, record) {
    await this.#send("PUT", `corrections/${model}`, { sentence, record });
  }

  async #refresh() {
    const before = new Map(this.jobs.map((job) => [job.id, job.state]));
    try {
      ({ jobs: this.jobs } = await ask("v1/workspace/jobs"));
    } catch {
      this.#lookSeldom(); // the service is away; what it works at goes on when it is back
      return;
    }
    this.dispatchEvent(new Event("jobs"));
    for (const job of this.jobs) {
      if (job.state === "done" && ACTIVE.includes(before.get(job.id) ?? "")) this.dispatchEvent(new CustomEvent("done", { detail: job }));
    }
    if (this.jobs.some(({ state }) => ACTIVE.includes(state))) this.#look();
    else this.#lookSeldom();
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {any} [body]
   * @param {"json" | "blob"} [as]
   * @returns {Promise<any>}
   */
  async #send(method, path, body, as = "json") {
    const isFile = body instanceof Blob;
    const headers = { "X-Zerotag-Token": this.#token ?? "", "Content-Type": isFile ? "application/octet-stream" : "application/json" };
    const content = body === undefined || isFile ? body : JSON.stringify(body);
    return await ask(`v1/workspace/${path}`, { method, headers, body: content, as });
  }
}
