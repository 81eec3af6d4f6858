// Results as a picture, drawn on a canvas in the colours of the page.

import { byId, decimal, directionOf, el, present } from "./dom.js";
import { cellLook, linesOf, readingName, showsMarks } from "./heat-view.js";
import { correctionOf, lookOf, share, tagsOf, toShow } from "./words-view.js";

const WIDTH = 960;
const MARGIN = 40;
const BESIDE = 152; // the column of verdicts
const NAMES = 208; // the column of names in heat maps
const VERDICT = 28; // the height of one
const LINE = 34;
const TALLEST = 8_000; // browsers refuse larger canvases
const SCALE = 2;

/**
 * The picture as a PNG blob, of as many sentences as fit.
 * @param {Session} session
 * @returns {Promise<Blob>}
 */
export function png(session) {
  const units = session.labelled;
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
  return new Promise((resolve, reject) => {
    const tooLarge = new Error("The browser cannot draw a picture of this size.");
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(tooLarge)), "image/png");
  });
}

/** A pen with the fonts and colours of the page. */
class Paint {
  constructor() {
    const style = getComputedStyle(byId("sentences"));
    const sans = getComputedStyle(document.body).fontFamily;
    this.serif = `19px ${style.fontFamily}`;
    this.small = `14px ${sans}`;
    this.bold = `600 14px ${sans}`;
    this.tiny = `650 11px ${sans}`;
    this.pen = present(el("canvas").getContext("2d"));
    this.page = colour("--page", "");
    this.ink = colour("--ink", "");
    this.quiet = colour("--quiet", "");
    this.rule = colour("--rule", "");
    this.card = colour("--card", "");
    /** @type {Map<string, {tint: string, line: string}>} */
    this.hues = new Map();
  }

  /** @param {HTMLCanvasElement} canvas */
  on(canvas) {
    this.pen = present(canvas.getContext("2d"));
    this.pen.scale(SCALE, SCALE);
    this.box(0, 0, canvas.width, canvas.height, this.page);
  }

  /**
   * @param {string} name
   * @returns {{tint: string, line: string}}
   */
  hue(name) {
    const known = this.hues.get(name) ?? { tint: colour("--tint", name), line: colour("--line", name) };
    this.hues.set(name, known);
    return known;
  }

  /**
   * @param {string} text
   * @param {string} font
   */
  width(text, font) {
    this.pen.font = font;
    return this.pen.measureText(text).width;
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {string} font
   * @param {string} fill
   */
  text(text, x, y, font, fill) {
    this.pen.font = font;
    this.pen.fillStyle = fill;
    this.pen.fillText(text, x, y);
  }

  /**
   * A text in parts that are no wider than the room there is.
   * @param {string} text
   * @param {number} room
   * @param {string} font
   */
  *parts(text, room, font) {
    const characters = [...text];
    let start = 0;
    while (start < characters.length) {
      const rest = characters.slice(start).join("");
      const width = this.width(rest, font);
      const count = width <= room ? characters.length : Math.max(1, Math.floor(((characters.length - start) * room) / width) - 1);
      yield characters.slice(start, start + count).join("");
      start += count;
    }
  }

  /**
   * A text cut short where it does not fit.
   * @param {string} text
   * @param {number} room
   * @param {string} font
   */
  cut(text, room, font) {
    if (this.width(text, font) <= room) return text;
    const [start] = this.parts(text, room - this.width("…", font), font);
    return `${start}…`;
  }

  /**
   * What shows a correction on the page: a dashed frame, and a badge at its corner.
   * @param {string | null} kind
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {string} line
   */
  correction(kind, x, y, width, height, line) {
    this.pen.strokeStyle = line;
    this.pen.lineWidth = 2;
    this.pen.setLineDash([5, 3]);
    this.pen.beginPath();
    this.pen.roundRect(x, y, width, height, 4);
    this.pen.stroke();
    this.pen.setLineDash([]);
    const [centreX, centreY] = [x + width, y];
    this.box(centreX - 7, centreY - 7, 14, 14, line, { radius: 7 });
    this.box(centreX - 4, centreY - 1, 8, 2, this.page);
    if (kind === "added") this.box(centreX - 1, centreY - 4, 2, 8, this.page);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {string} fill
   * @param {{radius?: number, alpha?: number}} [look]
   */
  box(x, y, width, height, fill, { radius = 0, alpha = 1 } = {}) {
    this.pen.globalAlpha = alpha;
    this.pen.fillStyle = fill;
    this.pen.beginPath();
    this.pen.roundRect(x, y, width, height, radius);
    this.pen.fill();
    this.pen.globalAlpha = 1;
  }
}

/**
 * A colour of the style sheet as the browser resolves it.
 * @param {string} variable
 * @param {string} hue
 */
function colour(variable, hue) {
  const probe = el("span", { class: `probe ${hue}` });
  document.body.append(probe);
  probe.style.setProperty("color", `var(${variable})`);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/**
 * The same curve as in the style sheet: faint at first, so that many low scores do not clutter the text.
 * @param {number} strength
 */
function alphaOf(strength) {
  const faint = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--faint")) / 100;
  return strength * (faint + (1 - faint) * strength);
}

/**
 * @param {Paint} paint
 * @param {Session} session
 * @param {Unit} unit
 * @param {number} top
 * @param {boolean} visible
 */
function drawSentence(paint, session, unit, top, visible) {
  const verdicts = present(session.judge(session.main, unit));
  const tags = verdicts.length > 1 ? tagsOf(verdicts) : new Map();
  const left = MARGIN + BESIDE;
  const right = WIDTH - MARGIN;
  const fromRight = directionOf(unit.text) === "rtl";
  /** @type {[number, Place][]} */
  const corrected = [];
  let x = 0;
  let y = top + 26;
  /**
   * @param {string} text
   * @param {number | null} word
   * @param {string} [labels]
   */
  const put = (text, word, labels) => {
    const width = paint.width(text, paint.serif);
    const tag = labels && paint.cut(labels, Math.max(60, right - left - width - 8), paint.tiny);
    const tagWidth = tag ? paint.width(tag, paint.tiny) + 8 : 0;
    if (x > 0 && left + x + width + tagWidth > right) {
      if (word === null) return;
      x = 0;
      y += LINE;
    }
    const at = fromRight ? right - x - width - tagWidth : left + x;
    const place = { x: at, y, width: width + tagWidth, tag };
    if (visible && word !== null) drawWord(paint, verdicts, word, place);
    if (word !== null && correctionOf(word, verdicts)) corrected.push([word, place]);
    if (visible) paint.text(text, fromRight ? at + tagWidth : at, y, paint.serif, paint.ink);
    x += width + tagWidth;
  };
  for (const [piece, word] of present(session.result(session.main, unit)).pieces()) {
    const parts = [...paint.parts(piece.replace(/\s+/g, " "), right - left, paint.serif)];
    parts.forEach((part, i) => put(part, word, i === parts.length - 1 && word !== null ? tags.get(word) : undefined));
  }
  const used = Math.max(14 + VERDICT * toShow(verdicts).length, y - top + LINE - 10);
  if (visible) {
    for (const [word, place] of corrected) drawCorrection(paint, verdicts, word, place); // last: nothing may cover it
    drawVerdicts(paint, verdicts, top);
    paint.box(MARGIN, top + used, WIDTH - 2 * MARGIN, 1, paint.rule);
  }
  return used + 12;
}

/**
 * @param {Paint} paint
 * @param {Verdict[]} verdicts
 * @param {number} word
 * @param {Place} place
 */
function drawWord(paint, verdicts, word, { x, y, width, tag }) {
  const given = verdicts.filter((verdict) => verdict.decided[word]);
  const look = lookOf(word, given, verdicts);
  const { tint, line } = paint.hue(look.hue);
  paint.box(x - 2, y - 19, width + 4, 26, tint, { radius: 4, alpha: alphaOf(look.strength(word)) });
  if (given.length) paint.box(x, y + 4, width, 2.5, line);
  if (tag) paint.text(tag, x + width - paint.width(tag, paint.tiny) - 2, y, paint.tiny, line);
}

/**
 * @param {Paint} paint
 * @param {Verdict[]} verdicts
 * @param {number} word
 * @param {Place} place
 */
function drawCorrection(paint, verdicts, word, { x, y, width }) {
  const given = verdicts.filter((verdict) => verdict.decided[word]);
  const { line } = paint.hue(lookOf(word, given, verdicts).hue);
  paint.correction(correctionOf(word, verdicts), x - 3, y - 20, width + 6, 28, line);
}

/**
 * @param {Paint} paint
 * @param {Verdict[]} verdicts
 * @param {number} top
 */
function drawVerdicts(paint, verdicts, top) {
  toShow(verdicts).forEach(({ name, score, rule, hue, positive }, i) => {
    const y = top + 24 + VERDICT * i;
    const width = BESIDE - 32;
    const font = positive ? paint.bold : paint.small;
    paint.text(paint.cut(`${positive ? "✓" : "–"} ${name}`, width - 40, font), MARGIN, y, font, positive ? paint.ink : paint.quiet);
    const number = decimal(score, 2);
    paint.text(number, MARGIN + width - paint.width(number, paint.small), y, paint.small, paint.quiet);
    paint.box(MARGIN, y + 8, width, 3, paint.rule, { radius: 1.5 });
    paint.box(MARGIN, y + 8, width * share(score), 3, positive ? paint.hue(hue).line : paint.quiet, { radius: 1.5 });
    paint.box(MARGIN + width * share(rule.sentence_threshold) - 1, y + 6, 2, 7, paint.ink);
  });
}

/**
 * @param {Paint} paint
 * @param {Session} session
 * @param {Unit} unit
 * @param {number} top
 * @param {boolean} visible
 */
function drawHeat(paint, session, unit, top, visible) {
  const { words } = present(session.result(session.main, unit));
  const room = WIDTH - 2 * MARGIN - NAMES;
  const widths = words.map(({ text }) => Math.min(room, Math.max(38, paint.width(text, paint.serif) + 12)));
  const fromRight = directionOf(unit.text) === "rtl";
  let y = top + 22;
  for (const line of linesOf(widths, room)) {
    let used = 0;
    for (const word of line) {
      const x = fromRight ? WIDTH - MARGIN - used - widths[word] : MARGIN + NAMES + used;
      if (visible) drawColumn(paint, session, unit, word, x, y, widths[word]);
      used += widths[word] + 2;
    }
    session.readings.forEach((reading, r) => visible && drawName(paint, session, unit, reading, y + 28 + 26 * r));
    y += 26 * session.readings.length + LINE + 10;
  }
  return y - top;
}

/**
 * @param {Paint} paint
 * @param {Session} session
 * @param {Unit} unit
 * @param {Reading} reading
 * @param {number} y
 */
function drawName(paint, session, unit, reading, y) {
  paint.text(paint.cut(readingName(session, reading), NAMES - 68, paint.small), MARGIN, y, paint.small, paint.quiet);
  const verdicts = session.judge(reading, unit);
  if (!verdicts) return;
  const [{ score, positive }] = toShow(verdicts);
  const text = `${positive ? "✓ " : ""}${decimal(score, 2)}`;
  const font = positive ? paint.bold : paint.small;
  paint.text(text, MARGIN + NAMES - 12 - paint.width(text, font), y, font, positive ? paint.ink : paint.quiet);
}

/**
 * @param {Paint} paint
 * @param {Session} session
 * @param {Unit} unit
 * @param {number} word
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function drawColumn(paint, session, unit, word, x, y, width) {
  const text = paint.cut(present(session.result(session.main, unit)).words[word].text, width, paint.serif);
  const textWidth = paint.width(text, paint.serif);
  const from = x + (width - textWidth) / 2;
  paint.text(text, from, y, paint.serif, paint.ink);
  const verdictsOfMain = present(session.judge(session.main, unit));
  const given = verdictsOfMain.filter((verdict) => verdict.decided[word]);
  const correction = correctionOf(word, verdictsOfMain);
  const { line } = paint.hue(lookOf(word, given, verdictsOfMain).hue);
  if (given.length) paint.box(from, y + 4, textWidth, 2.5, line);
  if (correction) paint.correction(correction, from - 3, y - 18, textWidth + 6, 26, line);
  session.readings.forEach((reading, r) => {
    const top = y + 10 + 26 * r;
    paint.box(x, top, width, 24, paint.card, { radius: 3 });
    const verdicts = session.judge(reading, unit);
    if (!verdicts) return;
    const look = cellLook(verdicts, word);
    const hue = paint.hue(look.hue);
    paint.box(x, top, width, 24, hue.tint, { radius: 3, alpha: alphaOf(look.strength(word)) });
    if (showsMarks(session, reading) && look.words[word]) paint.box(x, top + 21, width, 3, hue.line);
    const number = decimal(look.scores[word], 2);
    paint.text(number, x + (width - paint.width(number, paint.tiny)) / 2, top + 15, paint.tiny, paint.ink);
  });
}
