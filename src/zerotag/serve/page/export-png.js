// Results as a picture, drawn on a canvas in the colours of the page.

import { el } from "./dom.js";
import { cellLook, linesOf, readingName, showsMarks } from "./heat-view.js";
import { lookOf, toShow } from "./words-view.js";

const WIDTH = 960;
const MARGIN = 40;
const BESIDE = 152; // the column of verdicts
const LINE = 34;
const TALLEST = 8_000; // browsers refuse larger canvases
const SCALE = 2;

/** The picture as a PNG blob, of as many sentences as fit. */
export function png(session) {
  const units = session.units.filter((unit) => session.result(session.main, unit));
  const draw = session.comparing ? drawHeat : drawSentence;
  const paint = new Paint();
  const heights = [];
  let height = 2 * MARGIN;
  for (const unit of units) {
    const one = draw(paint, session, unit, 0, false);
    if (height + one > TALLEST) break;
    heights.push(one);
    height += one;
  }
  const more = units.length - heights.length;
  const canvas = el("canvas", { width: WIDTH * SCALE, height: (height + (more ? LINE : 0)) * SCALE });
  paint.on(canvas);
  let top = MARGIN;
  heights.forEach((one, i) => {
    draw(paint, session, units[i], top, true);
    top += one;
  });
  if (more) paint.text(`and ${more.toLocaleString("en")} more`, MARGIN, top + 20, paint.small, paint.quiet);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** A pen with the fonts and colours of the page. */
class Paint {
  constructor() {
    const style = getComputedStyle(document.querySelector(".sentences"));
    const sans = getComputedStyle(document.body).fontFamily;
    this.serif = `19px ${style.fontFamily}`;
    this.small = `14px ${sans}`;
    this.bold = `600 14px ${sans}`;
    this.pen = el("canvas").getContext("2d");
    for (const name of ["page", "ink", "quiet", "rule", "card"]) this[name] = colour(`--${name}`, "");
    this.hues = new Map();
  }

  on(canvas) {
    this.pen = canvas.getContext("2d");
    this.pen.scale(SCALE, SCALE);
    this.box(0, 0, canvas.width, canvas.height, this.page);
  }

  hue(name) {
    if (!this.hues.has(name)) this.hues.set(name, { tint: colour("--tint", name), line: colour("--line", name) });
    return this.hues.get(name);
  }

  width(text, font) {
    this.pen.font = font;
    return this.pen.measureText(text).width;
  }

  text(text, x, y, font, fill) {
    this.pen.font = font;
    this.pen.fillStyle = fill;
    this.pen.fillText(text, x, y);
  }

  box(x, y, width, height, fill, { radius = 0, alpha = 1 } = {}) {
    this.pen.globalAlpha = alpha;
    this.pen.fillStyle = fill;
    this.pen.beginPath();
    this.pen.roundRect(x, y, width, height, radius);
    this.pen.fill();
    this.pen.globalAlpha = 1;
  }
}

/** A colour of the style sheet as the browser resolves it. */
function colour(variable, hue) {
  const probe = el("span", { class: `probe ${hue}` });
  document.body.append(probe);
  probe.style.setProperty("color", `var(${variable})`);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The same curve as in the style sheet: faint at first, so that many low scores do not clutter the text. */
function alphaOf(strength) {
  return strength * (0.4 + 0.6 * strength);
}

function drawSentence(paint, session, unit, top, visible) {
  const verdicts = session.judge(session.main, unit);
  const left = MARGIN + BESIDE;
  const right = WIDTH - MARGIN;
  const fromRight = /^[^\p{L}]*[\u0590-\u08ff]/u.test(unit.text);
  let x = 0;
  let y = top + 26;
  for (const [piece, word] of session.result(session.main, unit).pieces()) {
    const text = piece.replace(/\s+/g, " ");
    const width = paint.width(text, paint.serif);
    if (x > 0 && left + x + width > right) {
      if (word === null) continue;
      x = 0;
      y += LINE;
    }
    const at = fromRight ? right - x - width : left + x;
    if (visible && word !== null) drawWord(paint, verdicts, word, at, y, width);
    if (visible) paint.text(text, at, y, paint.serif, paint.ink);
    x += width;
  }
  const used = Math.max(12 + 24 * toShow(verdicts).length, y - top + LINE - 10);
  if (visible) {
    drawVerdicts(paint, verdicts, top);
    paint.box(MARGIN, top + used, WIDTH - 2 * MARGIN, 1, paint.rule);
  }
  return used + 12;
}

function drawWord(paint, verdicts, word, x, y, width) {
  const given = verdicts.filter((verdict) => verdict.decided[word]);
  const look = lookOf(word, given, verdicts);
  const { tint, line } = paint.hue(look.hue);
  paint.box(x - 2, y - 19, width + 4, 26, tint, { radius: 4, alpha: alphaOf(look.strength(word)) });
  if (given.length) paint.box(x, y + 4, width, 2.5, line);
}

function drawVerdicts(paint, verdicts, top) {
  toShow(verdicts).forEach(({ name, score, hue, positive }, i) => {
    const y = top + 24 + 24 * i;
    const width = BESIDE - 32;
    paint.text(`${positive ? "✓" : "–"} ${name}`, MARGIN, y, positive ? paint.bold : paint.small, positive ? paint.ink : paint.quiet);
    const number = score.toFixed(2);
    paint.text(number, MARGIN + width - paint.width(number, paint.small), y, paint.small, paint.quiet);
    paint.box(MARGIN, y + 6, width, 3, paint.rule, { radius: 1.5 });
    paint.box(MARGIN, y + 6, width * Math.max(0, Math.min(1, score)), 3, positive ? paint.hue(hue).line : paint.quiet, { radius: 1.5 });
  });
}

function drawHeat(paint, session, unit, top, visible) {
  const { words } = session.result(session.main, unit);
  const room = WIDTH - 2 * MARGIN - BESIDE;
  const widths = words.map(({ text }) => Math.min(room, Math.max(30, paint.width(text, paint.serif) + 12)));
  let y = top + 22;
  for (const line of linesOf(widths, room)) {
    let x = MARGIN + BESIDE;
    for (const word of line) {
      if (visible) drawColumn(paint, session, unit, word, x, y, widths[word]);
      x += widths[word] + 2;
    }
    session.readings.forEach((reading, r) => {
      if (visible) paint.text(readingName(session, reading), MARGIN, y + 28 + 26 * r, paint.small, paint.quiet);
    });
    y += 26 * session.readings.length + LINE + 10;
  }
  return y - top;
}

function drawColumn(paint, session, unit, word, x, y, width) {
  const { text } = session.result(session.main, unit).words[word];
  paint.text(text, x + (width - paint.width(text, paint.serif)) / 2, y, paint.serif, paint.ink);
  session.readings.forEach((reading, r) => {
    const top = y + 10 + 26 * r;
    paint.box(x, top, width, 24, paint.card, { radius: 3 });
    const verdicts = session.judge(reading, unit);
    if (!verdicts) return;
    const look = cellLook(verdicts, word);
    const { tint, line } = paint.hue(look.hue);
    paint.box(x, top, width, 24, tint, { radius: 3, alpha: alphaOf(look.strength(word)) });
    if (showsMarks(session, reading) && look.words[word]) paint.box(x, top + 21, width, 3, line);
  });
}
