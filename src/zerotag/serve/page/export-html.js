// Results as one self-contained HTML file.

import { el } from "./dom.js";
import { frame, stillOf, styles, titleOf } from "./still.js";

/**
 * The page as HTML text.
 * @param {Session} session
 */
export async function html(session) {
  const css = await styles();
  const { main, list } = frame(session, session.labelled);
  list.append(...session.labelled.map((unit, i) => stillOf(session, unit, i + 1)));
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
${source(el("title", { text: titleOf(session) }))}
<style>
${css}</style>
</head>
<body class="report">
${source(main)}
</body>
</html>
`;
}

/**
 * An element as HTML; what the parser would change is written as a character reference.
 * @param {Element} element
 */
function source(element) {
  return element.outerHTML.replaceAll("\r", "&#13;").replaceAll("\0", "&#xfffd;");
}
