// A unit as running text: words shaded by score, the verdict beside them.

import { decimal, el, hidden, present } from "./dom.js";
import { isUnlike } from "./gold.js";
import { runs } from "./rule.js";

/**
 * The element of a word that can be pointed at, focused and corrected. To screen readers it is text: a sentence is read
 * as one, not as a row of buttons, and their click on a word corrects it as any other does.
 * @param {string} text
 * @param {number} number
 */
export function wordElement(text, number) {
  return el("span", { class: "word", tabindex: -1, "data-word": number, "data-reading": 0, text });
}

/**
 * The verdict a word is shaded for: the strongest of those given, which are its labels, else the strongest of all.
 * @param {number} word
 * @param {Verdict[]} given
 * @param {Verdict[]} verdicts
 */
export function lookOf(word, given, verdicts) {
  return (given.length ? given : verdicts).reduce((best, one) => (one.strength(word) > best.strength(word) ? one : best));
}

/**
 * The verdicts to show of a sentence: its labels or, if it has none, the one that came closest.
 * @param {Verdict[]} verdicts
 */
export function toShow(verdicts) {
  /** @param {Verdict} verdict */
  const margin = ({ score, rule }) => score - rule.sentence_threshold;
  const ordered = [...verdicts].sort((a, b) => margin(b) - margin(a));
  const given = ordered.filter((verdict) => verdict.positive);
  return given.length ? given : ordered.slice(0, 1);
}

/**
 * What a person made of a word: "added" or "removed", or nothing.
 * @param {number} word
 * @param {Verdict[]} verdicts
 */
export function correctionOf(word, verdicts) {
  const said = verdicts.filter((verdict) => verdict.said.has(word)).map((verdict) => verdict.said.get(word));
  if (!said.length) return null;
  return said.includes(true) ? "added" : "removed";
}

/**
 * A number as a share of a scale from 0 to 1.
 * @param {number} number
 */
export function share(number) {
  return Math.max(0, Math.min(1, number));
}

/**
 * Shows on a word what was decided about it; `tag` names the labels where there could be several.
 * @param {HTMLElement} element
 * @param {number} word
 * @param {Verdict[]} verdicts
 * @param {string} [tag]
 */
export function dressWord(element, word, verdicts, tag = "") {
  const given = verdicts.filter((verdict) => verdict.decided[word]);
  const look = lookOf(word, given, verdicts);
  const classes = ["word", look.hue, given.length ? "yes" : null, correctionOf(word, verdicts)];
  element.className = classes.filter(Boolean).join(" ");
  element.style.setProperty("--strength", look.strength(word).toFixed(2));
  if (given.length) element.setAttribute("role", "mark");
  else element.removeAttribute("role");
  if (tag) element.dataset.tag = tag;
  else delete element.dataset.tag;
}

/**
 * @param {Verdict[]} verdicts
 * @param {string[]} words
 */
function verdictElement(verdicts, words) {
  const rows = toShow(verdicts).map(({ name, hue, score, positive, byModel, rule: { sentence_threshold: threshold } }) =>
    el(
      "p",
      { class: [hue, positive ? "yes" : null, positive === byModel ? null : "said"].filter(Boolean).join(" "), title: `${name} from ${threshold.toFixed(2)}` },
      el("b", { text: name, title: `${name}: click to change`, role: "button", tabindex: -1, "data-verdict": name, "aria-pressed": String(positive) }),
      hidden(positive ? ": yes, score " : ": no, score "),
      el("span", { text: decimal(score, 2) }),
      hidden(`, threshold ${threshold.toFixed(2)}`),
      el("i", { style: { "--strength": share(score).toFixed(3), "--threshold": share(threshold).toFixed(3) } }),
    ),
  );
  return el("div", { class: "verdict" }, ...rows, ...nearest(verdicts, words));
}

/**
 * Where a sentence has a label and no word of it is marked: the word that came nearest.
 * @param {Verdict[]} verdicts
 * @param {string[]} words
 */
function nearest(verdicts, words) {
  return verdicts
    .filter(({ positive, decided }) => positive && words.length && !decided.includes(1))
    .map(({ name, scores }) => {
      const best = scores.reduce((most, score, word) => (score > scores[most] ? word : most), 0);
      const what = verdicts.length > 1 ? `nearest to ${name}` : "nearest";
      return el("span", { class: "nearest quiet", dir: "auto", text: `${what}: “${words[best]}” ${decimal(scores[best], 2)}` });
    });
}

/**
 * Where a file gives a sentence other labels: those.
 * @param {Session} session
 * @param {Unit} unit
 * @param {Verdict[]} verdicts
 */
function unlike(session, unit, verdicts) {
  if (!isUnlike(unit, verdicts, session.modelOf(session.main).labels)) return null;
  return el("span", { class: "nearest unlike", text: `in the file: ${unit.gold?.join(", ") || "no label"}` });
}

/**
 * Builds a unit's view; `dress` is called whenever decisions change, and leaves focus where it is.
 * @param {Session} session
 * @param {Unit} unit
 * @returns {View}
 */
export function buildWords(session, unit) {
  const result = present(session.result(session.main, unit));
  /** @type {HTMLElement[]} */
  const words = [];
  const text = el("p", { class: "text", dir: "auto", lang: "" });
  for (const [piece, number] of result.pieces()) {
    if (number === null) {
      text.append(piece);
    } else {
      const word = wordElement(piece, number);
      words.push(word);
      text.append(word);
    }
  }
  const verdict = el("div");
  const node = el("div", { class: "sentence" }, el("span", { class: "number" }), verdict, text);
  let beside = verdict;
  const dress = () => {
    const verdicts = present(session.judge(session.main, unit));
    const tags = verdicts.length > 1 ? tagsOf(verdicts) : new Map();
    words.forEach((element, word) => dressWord(element, word, verdicts, tags.get(word)));
    const renewed = verdictElement(verdicts, result.words.map((word) => word.text));
    if (session.queue) renewed.append(el("button", { type: "button", class: "link confirm", tabindex: -1, "aria-pressed": String(session.corrections.has(unit)), text: session.corrections.has(unit) ? "✓ looked at" : "Right as it is" }));
    const file = unlike(session, unit, verdicts);
    if (file) renewed.append(file);
    beside.replaceWith(renewed);
    beside = renewed;
  };
  return { node, lines: [words], dress };
}

/**
 * The label names to show after the last word of each run, by word.
 * @param {Verdict[]} verdicts
 */
export function tagsOf(verdicts) {
  /** @type {Map<number, string>} */
  const tags = new Map();
  for (const verdict of verdicts) {
    for (const [, last] of runs(verdict.decided)) {
      tags.set(last, tags.has(last) ? `${tags.get(last)}, ${verdict.name}` : verdict.name);
    }
  }
  return tags;
}
