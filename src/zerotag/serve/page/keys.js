// The keyboard: arrow keys between words, and single-key shortcuts that can be switched off.

import { byId, present } from "./dom.js";
import { wordOf } from "./tip.js";

const SWITCH = "zerotag-shortcuts";
const FIELDS = "input:not([type=range], [type=radio], [type=checkbox]), textarea, select, dialog";

/**
 * Arrow keys, Home and End inside the list of results; Enter and the space bar correct.
 * @param {SentenceList} list
 * @param {HTMLElement} root
 * @param {(word: HTMLElement) => void} correct
 */
export function moveBetweenWords(list, root, correct) {
  root.addEventListener("keydown", (event) => {
    const word = wordOf(event);
    if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") correct(word);
    else if (!focus(list, target(list, word, event.key))) return;
    event.preventDefault();
  });
}

/**
 * The next word, forwards or backwards from where the focus is, that has the label.
 * @param {SentenceList} list
 * @param {HTMLElement} root
 * @param {number} step
 */
export function toMarked(list, root, step) {
  /** @type {HTMLElement | null | undefined} */
  let word = root.contains(document.activeElement) ? wordOf({ target: document.activeElement }) : null;
  word ??= root.querySelector("[data-word]");
  if (!word) return;
  if (word.classList.contains("yes") && !root.contains(document.activeElement)) return void focus(list, word);
  do word = along(list, list.itemOf(word), step, word);
  while (word && !word.classList.contains("yes"));
  focus(list, word);
}

/**
 * @param {SentenceList} list
 * @param {HTMLElement} word
 * @param {string} key
 */
function target(list, word, key) {
  const item = list.itemOf(word);
  const line = present(linesOf(item).find((one) => one.includes(word)));
  switch (key) {
    case "ArrowRight":
      return along(list, item, 1, word);
    case "ArrowLeft":
      return along(list, item, -1, word);
    case "ArrowDown":
      return across(list, item, 1, line, word);
    case "ArrowUp":
      return across(list, item, -1, line, word);
    case "Home":
      return line[0];
    case "End":
      return line.at(-1);
    default:
      return null;
  }
}

/**
 * @param {SentenceList} list
 * @param {Item} item
 * @param {number} step
 * @param {HTMLElement} word
 * @returns {HTMLElement | undefined}
 */
function along(list, item, step, word) {
  const lines = linesOf(item);
  const row = lines.findIndex((one) => one.includes(word));
  const line = lines[row];
  const at = line.indexOf(word) + step;
  if (line[at]) return line[at];
  const next = nextItem(list, item, step);
  return next && linesOf(next)[row]?.at(step > 0 ? 0 : -1);
}

/**
 * @param {SentenceList} list
 * @param {Item} item
 * @param {number} step
 * @param {HTMLElement[]} line
 * @param {HTMLElement} word
 * @returns {HTMLElement | undefined}
 */
function across(list, item, step, line, word) {
  const lines = linesOf(item);
  const column = line.indexOf(word);
  const within = lines[lines.indexOf(line) + step];
  const beyond = nextItem(list, item, step);
  const next = within ?? (beyond && linesOf(beyond).at(step > 0 ? 0 : -1));
  return next?.[Math.min(column, next.length - 1)];
}

/**
 * The lines of words of an item that is shown.
 * @param {Item} item
 */
function linesOf(item) {
  return present(item.view).lines;
}

/**
 * The next item that has words.
 * @param {SentenceList} list
 * @param {Item} item
 * @param {number} step
 */
function nextItem(list, item, step) {
  let next = list.neighbour(item, step);
  while (next && !next.view?.lines[0].length) next = list.neighbour(next, step);
  return next;
}

/**
 * @param {SentenceList} list
 * @param {HTMLElement | null | undefined} word
 */
function focus(list, word) {
  if (!word) return false;
  list.setTabStop(word);
  word.focus();
  return true;
}

/**
 * Runs `shortcuts`, functions by key, when a key is pressed outside of fields and dialogs.
 * @param {{undo: () => void, keys: Record<string, () => void>}} shortcuts
 */
export function listenForShortcuts(shortcuts) {
  const box = byId("shortcuts-on");
  box.checked = localStorage.getItem(SWITCH) !== "off";
  box.addEventListener("change", () => localStorage.setItem(SWITCH, box.checked ? "on" : "off"));
  addEventListener("keydown", (event) => {
    const isInField = event.target instanceof Element && event.target.closest(FIELDS);
    if (event.defaultPrevented || isInField) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === "z" && !event.shiftKey) run(shortcuts.undo, event);
    else if (!command && !event.altKey && box.checked && Object.hasOwn(shortcuts.keys, event.key)) run(shortcuts.keys[event.key], event);
  });
}

/**
 * @param {() => void} shortcut
 * @param {Event} event
 */
function run(shortcut, event) {
  event.preventDefault();
  shortcut();
}
