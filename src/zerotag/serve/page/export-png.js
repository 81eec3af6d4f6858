// Results as a picture: what the HTML file has, drawn by the browser in the colours of the page.

import { el, present } from "./dom.js";
import { frame, stillOf, styles } from "./still.js";

const WIDTH = 960;
const TALLEST = 8_000; // browsers refuse larger canvases
const SCALE = 2;
const SVG = "http://www.w3.org/2000/svg";
const NOT_IN_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/**
 * The picture as a PNG blob, of as many sentences as fit.
 * @param {Session} session
 * @returns {Promise<Blob>}
 */
export async function png(session) {
  const css = await styles();
  const content = document.createElement("div");
  content.className = "zerotag report";
  content.dataset.theme = isDark() ? "dark" : "light";
  content.style.cssText = `width: ${WIDTH}px; background: var(--page); color: var(--ink); font: 1rem/1.55 var(--sans);`;
  const height = fill(session, content, css);
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(content, css, height))}`;
  await picture.decode();
  const canvas = el("canvas", { width: WIDTH * SCALE, height: height * SCALE });
  const pen = present(canvas.getContext("2d"));
  pen.scale(SCALE, SCALE);
  pen.drawImage(picture, 0, 0, WIDTH, height);
  return new Promise((resolve, reject) => {
    const tooLarge = new Error("The browser cannot draw a picture of this size.");
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(tooLarge)), "image/png");
  });
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Puts as many sentences into the picture as fit; gives its height.
 * @param {Session} session
 * @param {HTMLElement} content
 * @param {string} css
 */
function fill(session, content, css) {
  const { main, list } = frame(session, session.labelled);
  content.append(main);
  const host = el("div", { style: { position: "absolute", left: "-9999px", top: "0" }, "aria-hidden": "true" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheet];
  shadow.append(content);
  document.body.append(host);
  const units = session.labelled;
  const more = el("p", { class: "note" });
  for (const [i, unit] of units.entries()) {
    const row = stillOf(session, unit, i + 1);
    list.append(row);
    if (content.offsetHeight <= TALLEST - 40) continue;
    row.remove();
    more.textContent = `and ${(units.length - i).toLocaleString("en")} more`;
    list.after(more);
    break;
  }
  const height = content.offsetHeight;
  host.remove();
  return height;
}

/**
 * @param {HTMLElement} content
 * @param {string} css
 * @param {number} height
 */
function svgOf(content, css, height) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", String(WIDTH));
  svg.setAttribute("height", String(height));
  const style = el("style", { text: css });
  const foreign = document.createElementNS(SVG, "foreignObject");
  foreign.setAttribute("width", "100%");
  foreign.setAttribute("height", "100%");
  content.prepend(style);
  foreign.append(content);
  svg.append(foreign);
  return new XMLSerializer().serializeToString(svg).replace(NOT_IN_XML, "\ufffd");
}
