// Trainings as the page shows them: how far they are, what came out, and what can be done about them.

import { byId, counted, el } from "./dom.js";

const MOST = 5; // that are shown

/** @type {Record<string, string>} */
const WAYS = { thresholds: "other thresholds", network: "the last layer learnt" };
/** @type {Record<string, string>} */
const STATES = { queued: "waiting for the one before it", cancelled: "cancelled", failed: "failed" };

/**
 * @param {Workspace} workspace
 * @param {(job: Job) => void} onUse told of a model that somebody wants to see
 * @param {(text: string) => void} toast
 */
export function connectJobs(workspace, onUse, toast) {
  /** @param {() => Promise<void>} action */
  const orSay = (action) => () => action().catch((problem) => toast(problem.message));
  /**
   * @param {string} text
   * @param {() => Promise<void>} action
   */
  const button = (text, action) => el("button", { type: "button", class: "link", text, on: { click: orSay(action) } });

  /** @param {Job} job */
  const actionsOf = (job) => {
    if (job.state === "queued" || job.state === "running") return [button("Log", () => showLog(workspace, job)), button("Cancel", () => workspace.cancel(job))];
    const use = madeModel(job) ? [button("Use it", async () => onUse(job))] : [];
    return [...use, button("Log", () => showLog(workspace, job)), button("Remove", () => workspace.forget(job))];
  };

  let shown = "";
  const show = () => {
    if (shown === JSON.stringify(workspace.jobs)) return; // what is open stays open
    shown = JSON.stringify(workspace.jobs);
    byId("jobs").hidden = !workspace.jobs.length;
    const focused = document.activeElement?.closest("#job-list li")?.id;
    const focusedText = document.activeElement?.textContent;
    byId("job-list").replaceChildren(...workspace.jobs.slice(0, MOST).map((job) => item(job, actionsOf(job))));
    if (!focused) return;
    const again = [...(document.getElementById(focused)?.querySelectorAll("button") ?? [])].find((one) => one.textContent === focusedText);
    again?.focus();
  };
  workspace.addEventListener("jobs", show);
}

/**
 * Whether a model has come of a job: corrections need not make a better one.
 * @param {Job} job
 */
export function madeModel({ state, result }) {
  return state === "done" && result?.way !== null;
}

/**
 * @param {Job} job
 * @param {HTMLElement[]} actions
 */
function item(job, actions) {
  const { progress, state } = job;
  const share = progress && progress.steps ? progress.steps_done / progress.steps : 0;
  const bar = state === "running" ? [el("progress", { max: 1, value: share, "aria-label": `Training of ${job.name}` })] : [];
  const said = el("p", { class: state === "failed" ? "refusal" : "quiet", text: saidOf(job) });
  return el("li", { id: `job-${job.id}` }, el("div", {}, el("b", { text: job.name }), ...actions), ...bar, said, ...changesOf(job));
}

/**
 * The words that an improved model marks and its model did not, or the other way round.
 * @param {Job} job
 */
function changesOf({ result }) {
  if (!result?.changed) return [];
  const labels = Object.entries(result.thresholds ?? {});
  const thresholds = labels.map(([label, [old, now]]) => `${label}: threshold ${old.toFixed(2)} → ${now.toFixed(2)}`);
  /** @param {string} label */
  const named = (label) => (labels.length > 1 ? ` (${label})` : "");
  const words = result.changed.map(({ word, label, marked, count }) => el("li", {}, `${marked ? "+" : "−"} `, el("bdi", { text: word }), `${named(label)} × ${count}`));
  const summary = el("summary", { text: words.length ? `${counted(words.length, "word")} changed` : "No word changed" });
  return [el("details", {}, summary, el("p", { class: "quiet", text: thresholds.join(" · ") }), el("ul", {}, ...words))];
}

/** @param {Job} job */
function saidOf(job) {
  const { state, progress, result, message } = job;
  if (state === "done" && result?.before && result.after) {
    const { before, after, way, sentences, seen_before: seen } = result;
    const others = Object.keys(after).filter((name) => name !== way).map((name) => `; ${WAYS[name]}: ${percent(after[name].f1)}`);
    const measured = seen ? "some of which the model may have seen" : "cross-validated";
    if (!way) return `Nothing better yet: word F1 is ${percent(before.f1)} on your ${sentences} sentences (${measured}${others.join("")}). Look at more of them.`;
    return `Word F1 ${percent(before.f1)} → ${percent(after[way].f1)} on your ${sentences} sentences, ${measured} (${WAYS[way]}${others.join("")}).`;
  }
  if (state === "done" && result) {
    const f1 = result.scores["dev sentence F1"];
    return `Ready after ${duration(result.seconds)}. On ${result.sentences.dev.toLocaleString("en")} sentences held out, F1 is ${(100 * f1).toFixed(0)}.`;
  }
  if (state === "failed") return `It failed: ${message ?? "see its log"}`;
  if (state === "running") return progress ? runningWords(progress) : "Starting";
  return STATES[state][0].toUpperCase() + STATES[state].slice(1);
}

/** @param {number} share */
function percent(share) {
  return (100 * share).toFixed(0);
}

/** @param {JobProgress} progress */
function runningWords({ epoch, epochs, steps_done: done, steps, seconds_left: left }) {
  if (epoch === undefined) return `Learning from your corrections: ${done} of ${steps} ways measured`;
  const rest = left === undefined ? "" : ` · ${duration(left)} left`;
  return `Pass ${epoch} of ${epochs}${rest}`;
}

/** @param {number} seconds */
function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 90) return `${whole} s`;
  return whole < 5400 ? `${Math.round(whole / 60)} min` : `${(whole / 3600).toFixed(1)} h`;
}

/**
 * @param {Workspace} workspace
 * @param {Job} job
 */
async function showLog(workspace, job) {
  byId("log-title").textContent = `Log of ${job.name}`;
  byId("log-text").textContent = (await workspace.log(job)) || "Nothing yet";
  byId("log").showModal();
}
