// The scale of the shades: the same markup on the page, in its downloads, in reports and in notebooks.

import { decimal, el } from "./dom.js";
import { readingName } from "./heat-view.js";

/**
 * The scale of each label that is shown, and where its thresholds are.
 * @param {Session} session
 */
export function legendOf(session) {
  const { main } = session;
  const scales = session.shown(main).map((label) => {
    const rule = session.rule(main, label);
    const marks = [el("u", { text: `words from ${decimal(rule.word_threshold, 2)}` }), el("span", { text: `✓ sentences from ${decimal(rule.sentence_threshold, 2)}` })];
    return scale(session.hue(label), label, session.fullest(main, label), marks);
  });
  return el("div", { class: "legend" }, ...scales, ...comparedScales(session));
}

/**
 * The scales of the methods that are compared with the main one: each has its own.
 * @param {Session} session
 */
export function comparedScales(session) {
  return session.readings.slice(1).map((reading) => {
    const labels = session.shown(reading);
    const top = Math.max(...labels.map((label) => session.fullest(reading, label)));
    return scale(labels.length > 1 ? "k7" : session.hue(labels[0]), readingName(session, reading), top);
  });
}

/**
 * @param {string} hue
 * @param {string} name
 * @param {number} top the score that has the fullest shade
 * @param {HTMLElement[]} [marks]
 */
export function scale(hue, name, top, marks = []) {
  return el("span", { class: hue }, el("b", { dir: "auto", text: name }), el("span", { text: "0" }), el("i"), el("span", { text: top === 1 ? "1" : decimal(top, 2) }), ...marks);
}
