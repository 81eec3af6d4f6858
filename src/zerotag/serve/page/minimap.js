// Where in a long list the marked words are: a stripe beside it, as high as the window, to look at and to click.

import { byId, el, paced } from "./dom.js";

const FEWEST = 40; // sentences: a shorter list needs no map

export class Minimap {
  #session;
  #list;
  #canvas = byId("minimap");

  /**
   * @param {Session} session
   * @param {SentenceList} list
   */
  constructor(session, list) {
    this.#session = session;
    this.#list = list;
    const draw = paced(() => this.#draw(), 150);
    session.on("units readings label thresholds corrections results listed", draw);
    addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#canvas.addEventListener("pointerdown", (event) => {
      this.#canvas.setPointerCapture(event.pointerId);
      this.#goTo(event);
    });
    this.#canvas.addEventListener("pointermove", (event) => this.#canvas.hasPointerCapture(event.pointerId) && this.#goTo(event));
  }

  /** @param {PointerEvent} event */
  #goTo(event) {
    const { top, height } = this.#canvas.getBoundingClientRect();
    const { listedCount, numbers } = this.#session;
    const row = Math.floor((Math.max(0, Math.min(0.9999, (event.clientY - top) / height))) * listedCount);
    this.#list.goTo(numbers === null ? row : numbers[row]);
  }

  #draw() {
    const { listedCount, numbers, units, main } = this.#session;
    this.#canvas.hidden = listedCount < FEWEST || !main;
    const pen = this.#canvas.getContext("2d");
    if (this.#canvas.hidden || !pen) return;
    const { width, height } = this.#canvas.getBoundingClientRect();
    Object.assign(this.#canvas, { width, height });
    const thick = Math.max(2, height / listedCount);
    /** @type {Map<string, string>} */
    const colours = new Map();
    let drawn = -1; // of many rows on a line of pixels one is seen
    for (let row = 0; row < listedCount; row++) {
      const verdicts = this.#session.judge(main, units[numbers === null ? row : numbers[row]]) ?? [];
      for (const { hue, decided } of verdicts) {
        const y = Math.floor((row * height) / listedCount);
        if (y === drawn || !decided.includes(1)) continue;
        drawn = y;
        const colour = colours.get(hue) ?? lineColour(hue);
        colours.set(hue, colour);
        pen.fillStyle = colour;
        pen.fillRect(3, y, width - 6, thick);
      }
    }
  }
}

/** @param {string} hue */
function lineColour(hue) {
  const probe = el("span", { class: hue, style: { color: "var(--line)" } });
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
