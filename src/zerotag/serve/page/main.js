// Puts the page together: fetches the models, connects the parts, restores what a link holds.

import { fetchModels, setKey } from "./api.js";
import { Controls } from "./controls.js";
import { Correcting } from "./correcting.js";
import { CorpusView } from "./corpus-view.js";
import { byId, present } from "./dom.js";
import { Drafts } from "./drafts.js";
import { connectExports } from "./exporting.js";
import { Input } from "./input.js";
import { connectListbar } from "./listbar.js";
import { Minimap } from "./minimap.js";
import { listenForShortcuts, moveBetweenWords, toMarked } from "./keys.js";
import { Outcome } from "./outcome.js";
import { SentenceList } from "./sentences.js";
import { keyOf, Session } from "./session.js";
import { Review } from "./review.js";
import { connectSync } from "./corrections-sync.js";
import { checked, stateIn } from "./share.js";
import { Tip } from "./tip.js";
import { unitsOfRows } from "./table.js";
import { TableDialog } from "./table-dialog.js";
import { connectJobs, madeModel } from "./jobs-view.js";
import { Work } from "./work.js";
import { Workspace } from "./workspace.js";

const session = new Session();
let restoring = true; // until what a link holds is shown, changes are not the person's
let keyTried = false;
let resumed = false; // where this tab left off
/** @type {Set<string>} */
const awaited = new Set(); // models whose training was started here, to be shown when they are done
const root = byId("sentences");
const outcome = new Outcome(session);
const controls = new Controls(session);
const list = new SentenceList(session, root, byId("pane"));
const tip = new Tip(session, list, root);
const correcting = new Correcting(session, list, tip, root);
const workspace = new Workspace();
const drafts = new Drafts();
const tables = new TableDialog(workspace, useTable, trainOnTable);
const input = new Input(session, (problem) => {
  if (problem) outcome.notice("file", problem.title, problem.message, [["Close", () => outcome.clear("file")]]);
  else outcome.clear("file");
}, takeTable);
const work = new Work(session, (state, detail) => {
  if (state === "failed" && detail.problem.kind === "key") askForKey(() => work.start());
  else outcome.showWork(state, detail, { retry: () => work.start(), stop: () => work.stop() });
});

session.on("units readings", () => session.main && work.start());
session.on("units readings label thresholds corrections", forgetLink);
session.on("replaced", () => outcome.toast("The model was replaced; this is what the new one says"));
const review = new Review(session, workspace, list, (text) => outcome.toast(text), (name) => awaited.add(name));
connectSync(session, workspace, (kept) => (session.kept = kept));
connectListbar(session);
new Minimap(session, list);
new CorpusView(session, (shown) => workspace.on && !session.source?.rows && (byId("format").value = shown ? "report" : "jsonl"));
connectExports(session, workspace, stateOfPage, (text) => outcome.toast(text));
moveBetweenWords(list, root, (word) => correcting.correct(word));
listenForShortcuts({
  undo: () => session.undo(),
  keys: {
    "/": () => byId("text").focus(),
    f: () => byId("search").focus(),
    "[": () => controls.nudge(-1),
    "]": () => controls.nudge(1),
    "\\": () => controls.reset(),
    n: () => toMarked(list, root, 1),
    p: () => toMarked(list, root, -1),
    u: () => session.undo(),
    v: () => review.changeVerdict(),
    y: () => review.confirm(),
    t: () => byId("theme-toggle").click(),
    "?": () => byId("help").showModal(),
  },
});
byId("help-open").addEventListener("click", () => byId("help").showModal());
byId("help-close").addEventListener("click", () => byId("help").close());
connectJobs(workspace, (job) => useModel(job), (text) => outcome.toast(text));
workspace.addEventListener("jobs", () => {
  const uploads = new Map([...workspace.jobs].reverse().map(({ name, settings }) => [name, settings.upload]));
  for (const { name, settings } of [...workspace.jobs].reverse()) if (settings.of) uploads.set(name, uploads.get(settings.of) ?? "");
  session.trainedOn = uploads;
});
workspace.addEventListener("done", async (event) => {
  const job = /** @type {CustomEvent<Job>} */ (event).detail;
  if (!madeModel(job)) return outcome.toast("Your corrections have not made a better model yet");
  outcome.toast(`${job.name} is ready`);
  if (awaited.delete(job.name) || !session.main) await useModel(job);
  else session.setModels(await fetchModels());
});
byId("start-open").addEventListener("click", () => byId("file").click());
byId("start-demo").addEventListener("click", async () => tables.open(await workspace.demo(), Boolean(session.main)));
byId("table-again").addEventListener("click", () => {
  const { table, choice } = session.source ?? {};
  if (table) tables.open(table, Boolean(session.main), choice);
});
start();

async function start() {
  try {
    session.setModels(await fetchModels());
    outcome.clear("start");
    await workspace.open();
    byId("start").hidden = !workspace.on;
    if (workspace.on) input.offerTables();
    document.body.classList.toggle("modelless", !session.main);
    await restore();
    addEventListener("hashchange", restore); // not before there are models to show it with
    if (!resumed) await resume();
  } catch (problem) {
    if (problem.kind === "key") askForKey(start);
    else outcome.notice("start", "Couldn’t fetch the models", `${problem.message} Is “zerotag serve” running?`, [["Try again", start]]);
  }
}

/**
 * Takes a table into the workspace, if there is one, and asks which column is what.
 * @param {File} file
 */
async function takeTable(file) {
  if (!workspace.on) return false;
  outcome.toast(`Reading ${file.name} …`);
  tables.open(await workspace.upload(file), Boolean(session.main));
  return true;
}

/**
 * @param {TableSummary} table
 * @param {TableChoice} choice
 */
async function useTable(table, choice) {
  const rows = await workspace.rows(table.id);
  input.setTable(unitsOfRows(rows, choice), { name: table.name, table, choice, rows });
}

/**
 * The table is labelled as soon as there is a model for it.
 * @param {TableSummary} table
 * @param {TableChoice} choice
 * @param {string} name
 */
async function trainOnTable(table, choice, name) {
  awaited.add(name);
  await useTable(table, choice);
  outcome.toast(`Training ${name}. You can close this tab and come back.`);
}

/**
 * Shows a model that was trained, and the table it was trained on where nothing else is shown.
 * @param {Job} job
 */
async function useModel(job) {
  session.setModels(await fetchModels());
  document.body.classList.toggle("modelless", !session.main);
  const model = session.models.find(({ name }) => name === job.name);
  if (!model) return outcome.toast(`${job.name} is not loaded; restart the service`);
  session.setMain({ model: job.name, method: model.methods[0] });
  if (session.units.length || job.kind !== "train") return;
  const { text, labels, negative, upload } = job.settings;
  await useTable(await workspace.table(upload), { text, label: labels[0], id: null, negative: negative?.[0] ?? null });
}

/** What a link must hold to show the same again. */
function stateOfPage() {
  const { readings, label, moved, units } = session;
  const content = input.text === null ? { units: units.map((unit) => unit.words ?? unit.text) } : { text: input.text };
  const corrections = units.flatMap((unit, number) => session.corrections.of(unit).map((one) => [number, ...one]));
  return { ...content, readings: readings.map(({ model, method }) => [model, method]), label, thresholds: moved, corrections };
}

async function restore() {
  let state;
  try {
    state = await stateIn(location.hash);
  } catch (error) {
    outcome.notice("link", "Couldn’t open this link", error.message, [["Close", () => outcome.clear("link")]]);
  }
  restoring = true;
  if (state) await show(state);
  restoring = false;
}

/** Shows what this tab held before it was loaded, or offers what the last one held, and keeps what comes. */
async function resume() {
  resumed = true;
  const own = await drafts.open();
  if (own && session.main && !session.units.length) await showDraft(own);
  drafts.follow(session, draftOfPage);
  const left = await drafts.left();
  byId("last-text").hidden = !left || !session.main || session.units.length > 0;
  byId("last-text").addEventListener("click", async () => {
    await showDraft(present(left));
    await drafts.forget(present(left).tab);
  });
  session.on("units", () => (byId("last-text").hidden = true));
}

/** What is kept of this tab: what a link holds, but a table's rows, which the workspace has. */
function draftOfPage() {
  const { units, source } = session;
  if (!session.main || !(units.length || input.text)) return null;
  const { table, choice, name } = source ?? {};
  return { ...stateOfPage(), name, ...(table ? { units: [], table: table.id, choice } : {}) };
}

/** @param {Draft} draft */
async function showDraft({ table, choice, name, ...state }) {
  try {
    await show(checked(state), name, table && choice ? { table: await workspace.table(table), choice } : null);
  } catch (problem) {
    outcome.toast(`What was here before cannot be shown: ${problem.message}`);
  }
}

/**
 * @param {PageState} state
 * @param {string} [name] of the file its texts are from
 * @param {{table: TableSummary, choice: TableChoice} | null} [source] where its texts are the rows of a table
 */
async function show(state, name = "from a link", source = null) {
  const known = new Set(session.choices.map(keyOf));
  const readings = state.readings.filter((reading) => known.has(keyOf(reading)));
  if (readings.length) {
    session.setMain(readings[0]);
    session.setCompared(readings.slice(1));
  }
  const { labels } = session.modelOf(session.main);
  session.setLabel(state.label !== null && labels.includes(state.label) ? state.label : null);
  for (const [label, threshold] of state.thresholds) if (labels.includes(label)) session.setThreshold(label, threshold);
  if (source) await useTable(source.table, source.choice);
  else if (state.text === null) input.setUnits(present(state.units), name);
  else input.setText(state.text);
  session.restoreCorrections(state.corrections);
}

/** A link in the address bar must not go on claiming to be what has since changed. */
function forgetLink() {
  if (!restoring && location.hash) history.replaceState(null, "", location.pathname + location.search);
}

/** @param {() => void} goOn */
function askForKey(goOn) {
  const dialog = byId("key-dialog");
  outcome.clear("key");
  dialog.oncancel = () => outcome.notice("key", "This server asks for a key", "Without it nothing can be labelled.", [["Enter the key", () => askForKey(goOn)]]);
  byId("key-wrong").hidden = !keyTried;
  byId("key-form").onsubmit = (event) => {
    event.preventDefault();
    keyTried = true;
    setKey(byId("key").value);
    dialog.close();
    goOn();
  };
  dialog.showModal();
}
