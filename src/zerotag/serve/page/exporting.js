// The buttons that copy and download results, links and corrections.

import { byId, counted, present } from "./dom.js";
import { html } from "./export-html.js";
import { png } from "./export-png.js";
import { correctionsJsonl, correctionsTsv, jsonl, tsv } from "./export-text.js";
import { copy, download } from "./save.js";
import { holdsState, linkTo } from "./share.js";
import { tableCsv } from "./table.js";

/** @type {Record<string, {make: (session: Session) => string | Blob | Promise<string | Blob>, type: string}>} */
const FORMATS = {
  jsonl: { make: jsonl, type: "application/jsonl" },
  tsv: { make: tsv, type: "text/tab-separated-values" },
  html: { make: html, type: "text/html" },
  png: { make: png, type: "image/png" },
  csv: { make: (session) => tableCsv(session, session.source?.rows ?? []), type: "text/csv" },
};

/**
 * Wires the buttons; `toast` says what happened, `stateOf` gives what a link must hold.
 * @param {Session} session
 * @param {() => object} stateOf
 * @param {(text: string) => void} toast
 */
export function connectExports(session, stateOf, toast) {
  const chosen = () => byId("format").value;
  /** @param {() => Promise<void>} action */
  const orSay = (action) => () => action().catch((error) => toast(error.message));

  const downloadResults = async () => {
    const { make, type } = FORMATS[chosen()];
    download(`zerotag.${chosen()}`, await make(session), type);
    if (shortfall(session)) toast(`Downloaded${shortfall(session)}`);
  };
  const copyResults = async () => {
    const copied = await copy(await FORMATS[chosen()].make(session));
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
    const csv = present(byId("format").querySelector("option[value=csv]"));
    const hasRows = session.source?.rows !== undefined;
    Object.assign(csv, { hidden: !hasRows, disabled: !hasRows });
    if (hasRows !== (byId("format").value === "csv")) byId("format").value = hasRows ? "csv" : "jsonl";
  });
  connectCorrections(session);
}

/**
 * How many sentences have no result, to be said with what is taken away.
 * @param {Session} session
 */
function shortfall({ labelled, units }) {
  if (labelled.length === units.length) return "";
  return ` (${labelled.length.toLocaleString("en")} of ${counted(units.length, "sentence")}: the others have no result)`;
}

/** @param {Session} session */
function connectCorrections(session) {
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
  addEventListener("beforeunload", (event) => !saved && !session.kept && !holdsState(location.hash) && event.preventDefault());
  session.on("corrections", () => {
    const { count, units, canUndo } = session.corrections;
    saved = !count;
    byId("corrections").hidden = !count && !canUndo;
    byId("corrections-count").textContent = count ? `${counted(count, "correction")} in ${counted(units.length, "sentence")}` : "No corrections";
    byId("corrections-use").hidden = !count;
    byId("undo").disabled = !canUndo;
    for (const button of [byId("corrections-tsv"), byId("corrections-jsonl"), byId("discard")]) button.disabled = !count;
  });
}
