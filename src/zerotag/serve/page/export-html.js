// Results as one self-contained HTML file: what the page shows, without what only works on the page.

import { byId, counted, el, present } from "./dom.js";
import { buildHeat, showsMarks } from "./heat-view.js";
import { methodName } from "./session.js";
import { scoresOf } from "./tip.js";
import { buildWords } from "./words-view.js";

const WIDTH = 840; // pixels: as wide as the style sheet lets the rows of the file be

/**
 * The page as HTML text; the style sheets come from the service.
 * @param {Session} session
 */
export async function html(session) {
  const css = await Promise.all(["theme.css", "results.css"].map((name) => fetch(`assets/${name}`).then((answer) => answer.text())));
  const units = session.labelled;
  const title = `${session.shown(session.main).join(", ")}: ${session.source?.name ?? counted(units.length, "sentence")}`;
  const items = units.map((unit, i) => el("li", {}, still(session, unit, i + 1)));
  const content = el(
    "main",
    {},
    el("h1", { dir: "auto", text: title }),
    ...notes(session, units).map((text) => el("p", { class: "note", text })),
    el("ol", { class: "sentences" }, ...items),
    el("footer", { text: "Made with zerotag" }),
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
${source(el("title", { text: title }))}
<style>
${css.join("\n")}</style>
</head>
<body class="report">
${source(content)}
</body>
</html>
`;
}

/**
 * @param {Session} session
 * @param {Unit[]} units
 */
function notes(session, units) {
  const { main, readings } = session;
  const thresholds = session.shown(main).map((label) => {
    const rule = session.rule(main, label);
    return `${label}: words from ${rule.word_threshold.toFixed(2)} are underlined, sentences from ${rule.sentence_threshold.toFixed(2)} ticked`;
  });
  const corrected = units.reduce((sum, unit) => sum + session.corrections.of(unit).length, 0);
  return [
    `${main.model}, ${methodName(main.method)}. ${thresholds.join("; ")}.`,
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
function still(session, unit, number) {
  const { fontSize, fontFamily } = getComputedStyle(byId("sentences"));
  const view = session.comparing ? buildHeat(session, unit, { width: WIDTH, font: `${fontSize} ${fontFamily}` }) : buildWords(session, unit);
  view.dress();
  present(view.node.querySelector(".number")).textContent = number.toLocaleString("en");
  const verdicts = session.readings.map((reading) => session.judge(reading, unit));
  for (const element of view.lines.flat()) {
    const [word, reading] = [Number(element.dataset.word), Number(element.dataset.reading)];
    const given = verdicts[reading];
    if (given) element.replaceWith(stillWord(element, given, word, showsMarks(session, session.readings[reading])));
  }
  return view.node;
}

/**
 * @param {HTMLElement} element
 * @param {Verdict[]} verdicts
 * @param {number} word
 * @param {boolean} marks
 */
function stillWord(element, verdicts, word, marks) {
  const isCell = element.classList.contains("cell");
  const isMarked = element.classList.contains("yes");
  const tag = isCell ? "td" : isMarked ? "mark" : "span";
  const scores = scoresOf(verdicts, word, marks);
  return el(tag, {
    class: element.className,
    style: { "--strength": element.style.getPropertyValue("--strength") },
    title: scores.map((parts) => parts.join(" ").trim()).join("\n"),
    "data-tag": element.dataset.tag,
    text: isCell ? element.textContent.replace(/,.*/s, "") : element.textContent,
  });
}

/**
 * An element as HTML; what the parser would change is written as a character reference.
 * @param {Element} element
 */
function source(element) {
  return element.outerHTML.replaceAll("\r", "&#13;").replaceAll("\0", "&#xfffd;");
}
