// How it goes: the summary, progress, problems, and what screen readers are told.

import { byId, counted, debounced, el, paced, present } from "./dom.js";
import { comparison } from "./gold.js";

/** @type {Record<string, string>} */
const TITLES = {
  offline: "Couldn’t reach the server",
  busy: "The server is busy",
  unavailable: "The server is not ready",
  failed: "That did not work",
};

/**
 * Which marked words a model has seen, if it has: then it is not zero-shot, and says so.
 * @param {Model} model
 */
function wordsSeenBy({ word_labels: seen = {} }) {
  return Object.entries(seen).map(([what, sentences]) => `${what} from the words of ${counted(sentences, "sentence")}`).join(", ");
}

export class Outcome {
  #session;
  #announce = debounced((/** @type {string} */ text) => (byId("live").textContent = text), 700);
  /** @type {string | null} */
  #hasNotice = null; // who shows a notice: "work", "file", "link", "start" or nobody
  #toastTimer = 0;

  /** @param {Session} session */
  constructor(session) {
    this.#session = session;
    session.on("units readings", () => this.#summarise());
    session.on("results label thresholds corrections", paced(() => this.#summarise(), 0));
    session.on("readings", () => this.#introduce());
  }

  /**
   * Shows a state of `Work`; `actions` are what the person can do: {retry, stop}.
   * @param {string} state
   * @param {any} detail
   * @param {Actions} actions
   */
  showWork(state, detail, actions) {
    const busy = state === "working" || state === "stopped";
    byId("progress").hidden = !(busy && detail.total > 1 && detail.done < detail.total);
    byId("sentences").setAttribute("aria-busy", String(state === "working"));
    if (busy) this.#showProgress(state, detail, actions);
    if (state === "waiting") this.#showWaiting(detail, actions);
    else if (state === "failed") this.notice("work", TITLES[detail.problem.kind] ?? TITLES.failed, detail.problem.message, [["Try again", actions.retry]]);
    else if (state === "idle" || detail.done > 0) this.clear("work");
  }

  /**
   * A problem in a box of its own.
   * @param {string} owner
   * @param {string} title
   * @param {string} message
   * @param {[string, () => void][]} [buttons]
   */
  notice(owner, title, message, buttons = []) {
    this.#hasNotice = owner;
    const made = buttons.map(([text, click]) => el("button", { type: "button", class: "button", text, on: { click } }));
    byId("notice").replaceChildren(el("div", {}, el("b", { text: title }), el("p", { text: message })), ...made);
    byId("notice").hidden = false;
  }

  /**
   * Takes a problem away, if it is one's own.
   * @param {string} owner
   */
  clear(owner) {
    if (this.#hasNotice !== owner) return;
    this.#hasNotice = null;
    byId("notice").hidden = true;
  }

  /**
   * Says something for a moment.
   * @param {string} text
   */
  toast(text) {
    const toast = byId("toast");
    toast.textContent = text;
    toast.hidden = false;
    byId("live").textContent = text;
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => (toast.hidden = true), 3000);
  }

  /**
   * @param {string} state
   * @param {Progress} progress
   * @param {Actions} actions
   */
  #showProgress(state, { done, total }, { retry, stop }) {
    Object.assign(byId("progress-bar"), { max: total, value: done });
    const stopped = state === "stopped";
    byId("progress-text").textContent = `${stopped ? "Stopped at" : "Labelling"} ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    byId("progress-button").textContent = stopped ? "Go on" : "Stop";
    byId("progress-button").onclick = stopped ? retry : stop;
  }

  /**
   * @param {{problem: Problem, seconds: number}} waiting
   * @param {{retry: () => void}} actions
   */
  #showWaiting({ problem, seconds }, { retry }) {
    const message = problem.kind === "offline" ? "Is “zerotag serve” still running? Your text and corrections are safe here." : problem.message;
    const countdown = `Trying again in ${seconds} s.`;
    // A new notice would be read aloud every second: only the number changes.
    const shown = byId("notice").querySelector("[data-countdown]");
    if (this.#hasNotice === "work" && shown) {
      shown.textContent = countdown;
      return;
    }
    this.notice("work", TITLES[problem.kind], message, [["Try now", retry]]);
    byId("notice").firstElementChild?.append(el("p", { class: "quiet", "data-countdown": true, "aria-live": "off", text: countdown }));
  }

  #introduce() {
    const { models, main } = this.#session;
    if (!main) {
      byId("lead").textContent = "There is no model yet. Give it sentences with labels, and it learns which words say so.";
      return;
    }
    const model = this.#session.modelOf(main);
    const labels = model.labels.length > 3 ? `${model.labels.slice(0, 3).join(", ")} …` : model.labels.join(", ");
    const seen = wordsSeenBy(model);
    const how = seen ? `, and has seen marked words: ${seen}.` : ", never from marked words. It finds the words by itself.";
    byId("lead").textContent = `This model learned “${labels}” from whole sentences${how}`;
    const notes = models.map((one) => [`${one.name}: ${one.encoder}`, one.depth ? `depth ${one.depth}` : "", wordsSeenBy(one)].filter(Boolean).join(", "));
    byId("model-note").textContent = notes.join(" · ");
  }

  #summarise() {
    const { units, main, leftOut } = this.#session;
    byId("empty").hidden = units.length > 0;
    document.body.classList.toggle("working", units.length > 0 && Boolean(main));
    byId("results").hidden = !units.length || !main;
    byId("left-out").hidden = !leftOut;
    byId("left-out").textContent = `${counted(leftOut, "more sentence")} left out. Use “zerotag label” for texts of this size.`;
    if (!main) return;
    byId("gold").textContent = comparison(this.#session);
    const totals = new Map(this.#session.shown(main).map((name) => [name, { sentences: 0, words: 0 }]));
    for (const unit of units) {
      for (const verdict of this.#session.judge(main, unit) ?? []) {
        const total = present(totals.get(verdict.name));
        total.sentences += Number(verdict.positive);
        for (const yes of verdict.decided) total.words += yes;
      }
    }
    const all = counted(units.length, "sentence");
    const parts = [...totals].map(([name, { sentences, words }]) => {
      const given = sentences.toLocaleString("en");
      return totals.size === 1 ? `${given} of ${all} ${name} · ${counted(words, "word")}` : `${name} ${given} (${counted(words, "word")})`;
    });
    if (totals.size > 1) parts.unshift(all);
    const refused = units.filter((unit) => this.#session.refusal(main, unit)).length;
    if (refused) parts.push(`${refused.toLocaleString("en")} not labelled`);
    const summary = parts.join(" · ");
    byId("summary").textContent = summary;
    if (units.length) this.#announce(summary);
  }
}
