// Puts the page together: fetches the models, connects the parts, restores what a link holds.

import { fetchModels, setKey } from "./api.js";
import { Controls } from "./controls.js";
import { Correcting } from "./correcting.js";
import { byId, present } from "./dom.js";
import { connectExports } from "./exporting.js";
import { Input } from "./input.js";
import { connectListbar } from "./listbar.js";
import { Minimap } from "./minimap.js";
import { listenForShortcuts, moveBetweenWords, toMarked } from "./keys.js";
import { Outcome } from "./outcome.js";
import { SentenceList } from "./sentences.js";
import { keyOf, Session } from "./session.js";
import { stateIn } from "./share.js";
import { Tip } from "./tip.js";
import { Work } from "./work.js";

const session = new Session();
let restoring = true; // until what a link holds is shown, changes are not the person's
let keyTried = false;
const root = byId("sentences");
const outcome = new Outcome(session);
const controls = new Controls(session);
const list = new SentenceList(session, root, byId("pane"));
const tip = new Tip(session, list, root);
const correcting = new Correcting(session, list, tip, root);
const input = new Input(session, (problem) => {
  if (problem) outcome.notice("file", problem.title, problem.message, [["Close", () => outcome.clear("file")]]);
  else outcome.clear("file");
});
const work = new Work(session, (state, detail) => {
  if (state === "failed" && detail.problem.kind === "key") askForKey(() => work.start());
  else outcome.showWork(state, detail, { retry: () => work.start(), stop: () => work.stop() });
});

session.on("units readings", () => session.main && work.start());
session.on("units readings label thresholds corrections", forgetLink);
session.on("replaced", () => outcome.toast("The model was replaced; this is what the new one says"));
connectListbar(session);
new Minimap(session, list);
connectExports(session, stateOfPage, (text) => outcome.toast(text));
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
    t: () => byId("theme-toggle").click(),
    "?": () => byId("help").showModal(),
  },
});
byId("help-open").addEventListener("click", () => byId("help").showModal());
byId("help-close").addEventListener("click", () => byId("help").close());
start();

async function start() {
  try {
    session.setModels(await fetchModels());
    outcome.clear("start");
    await restore();
    addEventListener("hashchange", restore); // not before there are models to show it with
  } catch (problem) {
    if (problem.kind === "key") askForKey(start);
    else outcome.notice("start", "Couldn’t fetch the models", `${problem.message} Is “zerotag serve” running?`, [["Try again", start]]);
  }
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
  if (state) show(state);
  restoring = false;
}

/** @param {PageState} state */
function show(state) {
  const known = new Set(session.choices.map(keyOf));
  const readings = state.readings.filter((reading) => known.has(keyOf(reading)));
  if (readings.length) {
    session.setMain(readings[0]);
    session.setCompared(readings.slice(1));
  }
  const { labels } = session.modelOf(session.main);
  session.setLabel(state.label !== null && labels.includes(state.label) ? state.label : null);
  for (const [label, threshold] of state.thresholds) if (labels.includes(label)) session.setThreshold(label, threshold);
  if (state.text === null) input.setUnits(present(state.units), "from a link");
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
