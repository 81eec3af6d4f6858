// Results as one self-contained HTML file, in the look of the page: no scripts, no requests, everything escaped.

import { counted } from "./dom.js";
import { cellLook, readingName, showsMarks } from "./heat-view.js";
import { lookOf, toShow } from "./words-view.js";

/** The page as HTML text; the style sheets come from the service. */
export async function html(session) {
  const css = await Promise.all(["theme.css", "results.css"].map((name) => fetch(`assets/${name}`).then((answer) => answer.text())));
  const units = session.units.filter((unit) => session.result(session.main, unit));
  const title = `${session.shown(session.main).join(", ")}: ${session.source?.name ?? counted(units.length, "sentence")}`;
  const items = units.map((unit) => `<li>${session.comparing ? heat(session, unit) : sentence(session, unit)}</li>\n`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escape(title)}</title>
<style>
${css.join("\n")}</style>
</head>
<body class="report">
<main>
<h1>${escape(title)}</h1>
<p class="note">${escape(settings(session))}</p>
<ol class="sentences">
${items.join("")}</ol>
<footer>Made with zerotag</footer>
</main>
</body>
</html>
`;
}

function settings(session) {
  const thresholds = session.shown(session.main).map((label) => `${label} from ${session.rule(session.main, label).word_threshold.toFixed(2)}`);
  return `${session.main.model}, ${readingName(session, session.main)}. Underlined words reach the threshold: ${thresholds.join(", ")}.`;
}

function sentence(session, unit) {
  const verdicts = session.judge(session.main, unit);
  const rows = toShow(verdicts).map(({ name, hue, score, positive }) => {
    const bar = `<i style="--strength:${Math.max(0, Math.min(1, score)).toFixed(2)}"></i>`;
    return `<p class="${hue}${positive ? " yes" : ""}"><b>${escape(name)}</b> <span>${score.toFixed(2)}</span>${bar}</p>`;
  });
  let text = "";
  for (const [piece, word] of session.result(session.main, unit).pieces()) {
    text += word === null ? escape(piece) : wordHtml(piece, word, verdicts);
  }
  return `<div class="sentence"><div class="verdict">${rows.join("")}</div><p class="text" dir="auto" lang="">${text}</p></div>`;
}

function wordHtml(piece, word, verdicts) {
  const given = verdicts.filter((verdict) => verdict.decided[word]);
  const look = lookOf(word, given, verdicts);
  const tag = given.length ? "mark" : "span";
  const title = verdicts.map(({ name, scores }) => `${scores[word].toFixed(3)} ${name}`).join("\n");
  const kind = `word ${look.hue}${given.length ? " yes" : ""}`;
  return `<${tag} class="${kind}" ${shade(look, word)} title="${escape(title)}">${escape(piece)}</${tag}>`;
}

function heat(session, unit) {
  const { words } = session.result(session.main, unit);
  const rows = session.readings.map((reading) => {
    const verdicts = session.judge(reading, unit);
    const cells = verdicts ? words.map((_, word) => cellHtml(verdicts, word, showsMarks(session, reading))) : [];
    return `<tr><th scope="row">${escape(readingName(session, reading))}</th>${cells.join("")}</tr>`;
  });
  const head = words.map(({ text }) => `<th scope="col">${escape(text)}</th>`);
  return `<div class="heat scrolled"><table><thead><tr><td></td>${head.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function cellHtml(verdicts, word, marks) {
  const look = cellLook(verdicts, word);
  const kind = `cell ${look.hue}${marks && look.words[word] ? " yes" : ""}`;
  return `<td class="${kind}" ${shade(look, word)}>${look.scores[word].toFixed(2)}</td>`;
}

function shade(look, word) {
  return `style="--strength:${look.strength(word).toFixed(2)}"`;
}

/** Text for an element or an attribute. */
export function escape(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\0": "�" };
  return text.replace(/[&<>"\r\0]/g, (character) => names[character]);
}
