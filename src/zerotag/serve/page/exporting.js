// The buttons that copy and download results, links and corrections.

import { byId, counted } from "./dom.js";
import { html } from "./export-html.js";
import { png } from "./export-png.js";
import { correctedRecords, correctionsJsonl, correctionsTsv, exportRecords, jsonl, tsv } from "./export-text.js";
import { copy, download } from "./save.js";
import { holdsState, linkTo } from "./share.js";

/** @type {Record<string, {make: (session: Session) => string | Blob | Promise<string | Blob>, type: string}>} */
const FORMATS = {
  jsonl: { make: jsonl, type: "application/jsonl" },
  tsv: { make: tsv, type: "text/tab-separated-values" },
  html: { make: html, type: "text/html" },
  png: { make: png, type: "image/png" },
};
const TABLES = ["csv", "xlsx", "parquet"];
/** @type {Record<string, string>} */
const SUFFIXES = { report: "html", labelstudio: "json" }; // of formats that are not called as their files end

/**
 * Wires the buttons; `toast` says what happened, `stateOf` gives what a link must hold. Tables and reports are made by
 * the workspace, where there is one.
 * @param {Session} session
 * @param {Workspace} workspace
 * @param {() => object} stateOf
 * @param {(text: string) => void} toast
 */
export function connectExports(session, workspace, stateOf, toast) {
  const chosen = () => byId("format").value;
  /** @param {() => Promise<void>} action */
  const orSay = (action) => () => action().catch((error) => toast(error.message));

  const make = async () => FORMATS[chosen()]?.make(session) ?? (await written(session, workspace, chosen(), exportRecords(session)));

  const downloadResults = async () => {
    const kind = chosen();
    download(`zerotag.${SUFFIXES[kind] ?? kind}`, await make(), FORMATS[kind]?.type);
    if (shortfall(session)) toast(`Downloaded${shortfall(session)}`);
  };
  const copyResults = async () => {
    const copied = await copy(await make());
    toast(copied ? `${byId("format").selectedOptions[0].text} copied${shortfall(session)}` : "The browser does not allow copying here. Use Download.");
  };
  const copyLink = async () => {
    const link = await linkTo(stateOf());
    history.replaceState(null, "", link);
    toast((await copy(link)) ? "Link copied" : "The link is in the address bar");
  };
  byId("download").addEventListener("click", orSay(downloadResults));
  byId("copy").addEventListener("click", orSay(copyResults));
  byId("link").addEventListener("click", orSay(copyLink));
  session.on("units", () => {
    offer(workspace);
    const hasRows = session.source?.rows !== undefined;
    if (hasRows !== TABLES.includes(chosen())) byId("format").value = hasRows ? "csv" : "jsonl";
  });
  connectCorrections(session, workspace, orSay);
}

/**
 * Hides what only a workspace can make where there is none.
 * @param {Workspace} workspace
 */
function offer(workspace) {
  for (const option of byId("format").querySelectorAll("option[data-workspace]")) Object.assign(option, { hidden: !workspace.on, disabled: !workspace.on });
  byId("corrections-labelstudio").hidden = !workspace.on;
}

/**
 * A file that the workspace makes of records.
 * @param {Session} session
 * @param {Workspace} workspace
 * @param {string} format
 * @param {string[]} records
 */
async function written(session, workspace, format, records) {
  const { main, source } = session;
  const rules = session.modelOf(main).labels.map((label) => session.rule(main, label));
  const title = `${session.shown(main).join(", ")}: ${source?.name ?? counted(records.length, "sentence")}`;
  const upload = TABLES.includes(format) ? source?.table?.id : undefined;
  return workspace.export({ format, model: main.model, title, rules }, upload, records);
}

/**
 * How many sentences have no result, to be said with what is taken away.
 * @param {Session} session
 */
function shortfall({ labelled, units }) {
  if (labelled.length === units.length) return "";
  return ` (${labelled.length.toLocaleString("en")} of ${counted(units.length, "sentence")}: the others have no result)`;
}

/**
 * @param {Session} session
 * @param {Workspace} workspace
 * @param {(action: () => Promise<void>) => () => Promise<void>} orSay
 */
function connectCorrections(session, workspace, orSay) {
  byId("undo").addEventListener("click", () => session.undo());
  byId("discard").addEventListener("click", () => session.discardCorrections());
  let saved = true;
  /** @type {typeof download} */
  const save = (...file) => {
    download(...file);
    saved = true;
  };
  byId("corrections-tsv").addEventListener("click", () => save("corrections.tsv", correctionsTsv(session), "text/tab-separated-values"));
  byId("corrections-jsonl").addEventListener("click", () => save("corrections.jsonl", correctionsJsonl(session), "application/jsonl"));
  const saveAnnotations = async () => save("corrections.json", await written(session, workspace, "annotations", correctedRecords(session)));
  byId("corrections-labelstudio").addEventListener("click", orSay(saveAnnotations));
  addEventListener("beforeunload", (event) => !saved && !session.kept && !holdsState(location.hash) && event.preventDefault());
  session.on("corrections", () => {
    const { count, units, confirmed, canUndo } = session.corrections;
    const parts = [];
    if (count) parts.push(`${counted(count, "correction")} in ${counted(units.length - confirmed, "sentence")}`);
    if (confirmed) parts.push(`${counted(confirmed, "sentence")} right`);
    saved = !units.length;
    byId("corrections").hidden = !units.length && !canUndo;
    byId("corrections-count").textContent = parts.join(", ") || "No corrections";
    byId("corrections-use").hidden = !units.length;
    byId("undo").disabled = !canUndo;
    for (const button of [byId("corrections-tsv"), byId("corrections-jsonl"), byId("corrections-labelstudio"), byId("discard")]) button.disabled = !units.length;
  });
}
