// What the page shows as it stands in a file: the same markup without what only works on the page.

import { counted, el, present } from "./dom.js";
import { buildHeat, showsMarks } from "./heat-view.js";
import { legendOf } from "./legend.js";
import { methodName } from "./session.js";
import { scoresOf } from "./tip.js";
import { buildWords } from "./words-view.js";

const WIDTH = 840; // pixels: as wide as the style sheet lets the rows of a file be
const INTERACTIVE = ["title", "tabindex", "role", "data-verdict", "aria-pressed"]; // of verdicts

/** The style sheets of files, which the service has. */
export async function styles() {
  const sheets = await Promise.all(["theme", "sentences", "report"].map((name) => fetch(`assets/${name}.css`).then((answer) => answer.text())));
  return sheets.join("\n");
}

/** @param {Session} session */
export function titleOf(session) {
  return `${session.shown(session.main).join(", ")}: ${session.source?.name ?? counted(session.labelled.length, "sentence")}`;
}

/**
 * Title, notes and legend, with a list for the sentences.
 * @param {Session} session
 * @param {Unit[]} units
 */
export function frame(session, units) {
  const list = el("ol", { class: "sentences" });
  const notes = notesOf(session, units).map((text) => el("p", { class: "note", text }));
  const section = el("section", {}, legendOf(session), list);
  const main = el("main", {}, el("h1", { dir: "auto", text: titleOf(session) }), ...notes, section, el("footer", { text: "Made with zerotag" }));
  return { main, list };
}

/**
 * @param {Session} session
 * @param {Unit[]} units
 */
function notesOf(session, units) {
  const { main, readings } = session;
  const corrected = units.reduce((sum, unit) => sum + session.corrections.of(unit).length, 0);
  return [
    `${main.model}, ${methodName(main.method)}.`,
    readings.every(({ method }) => method === "native") ? "" : "Model scores are shaded around the calibrated threshold, other methods against their highest score in all sentences.",
    corrected ? `${counted(corrected, "correction")} by hand, marked + and −.` : "",
  ].filter(Boolean);
}

/**
 * A unit as the page shows it, with scores where the page has tips.
 * @param {Session} session
 * @param {Unit} unit
 * @param {number} number
 */
export function stillOf(session, unit, number) {
  const { fontFamily } = getComputedStyle(present(document.getElementById("sentences")));
  const view = session.comparing ? buildHeat(session, unit, { width: WIDTH, font: `16px ${fontFamily}` }) : buildWords(session, unit);
  view.dress();
  present(view.node.querySelector(".number")).textContent = unit.id || number.toLocaleString("en");
  for (const button of view.node.querySelectorAll("button")) button.remove();
  const verdicts = session.readings.map((reading) => session.judge(reading, unit));
  for (const element of view.lines.flat()) {
    const [word, reading] = [Number(element.dataset.word), Number(element.dataset.reading)];
    const given = verdicts[reading];
    if (given) element.replaceWith(stillWord(element, scoresOf(given, word, showsMarks(session, session.readings[reading]))));
  }
  for (const element of view.node.querySelectorAll(".verdict *")) for (const name of INTERACTIVE) element.removeAttribute(name);
  return el("li", {}, view.node);
}

/**
 * @param {HTMLElement} element
 * @param {string[][]} scores
 */
function stillWord(element, scores) {
  const isCell = element.classList.contains("cell");
  const isMarked = element.classList.contains("yes");
  const tip = scores.map((parts) => parts.join(" ").trim()).join("\n");
  return el(isCell ? "td" : isMarked ? "mark" : "span", {
    class: element.className,
    style: { "--strength": element.style.getPropertyValue("--strength") },
    ...(isCell ? { title: tip } : { tabindex: isMarked ? 0 : -1, "data-tip": tip }),
    "data-tag": element.dataset.tag,
    text: isCell ? element.textContent.replace(/,.*/s, "") : element.textContent,
  });
}
