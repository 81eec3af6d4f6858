// The keyboard: arrow keys between words, and single-key shortcuts that can be switched off.

import { byId } from "./dom.js";
import { wordOf } from "./tip.js";

const SWITCH = "zerotag-shortcuts";

/** Arrow keys, Home and End inside the list of results; Enter and the space bar correct. */
export function moveBetweenWords(list, root, correct) {
  root.addEventListener("keydown", (event) => {
    const word = wordOf(event);
    if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") correct(word);
    else if (!focus(list, target(list, word, event.key))) return;
    event.preventDefault();
  });
}

/** The next word, forwards or backwards from where the focus is, that has the label. */
export function toMarked(list, root, step) {
  let word = root.contains(document.activeElement) ? wordOf({ target: document.activeElement }) : null;
  word ??= root.querySelector("[data-word]");
  if (!word) return;
  if (word.classList.contains("yes") && !root.contains(document.activeElement)) return void focus(list, word);
  do word = along(list, list.itemOf(word), step, word);
  while (word && !word.classList.contains("yes"));
  focus(list, word);
}

function target(list, word, key) {
  const item = list.itemOf(word);
  const line = item.view.lines.find((one) => one.includes(word));
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

function along(list, item, step, word) {
  const row = item.view.lines.findIndex((line) => line.includes(word));
  const line = item.view.lines[row];
  const at = line.indexOf(word) + step;
  if (line[at]) return line[at];
  const next = nextItem(list, item, step);
  return next?.view.lines[row]?.at(step > 0 ? 0 : -1);
}

function across(list, item, step, line, word) {
  const { lines } = item.view;
  const column = line.indexOf(word);
  const within = lines[lines.indexOf(line) + step];
  const next = within ?? nextItem(list, item, step)?.view.lines.at(step > 0 ? 0 : -1);
  return next?.[Math.min(column, next.length - 1)];
}

/** The next item that has words. */
function nextItem(list, item, step) {
  let next = list.neighbour(item, step);
  while (next && !next.view?.lines[0].length) next = list.neighbour(next, step);
  return next;
}

function focus(list, word) {
  if (!word) return false;
  list.setTabStop(word);
  word.focus();
  return true;
}

/** Runs `shortcuts`, functions by key, when a key is pressed outside of fields and dialogs. */
export function listenForShortcuts(shortcuts) {
  const box = byId("shortcuts-on");
  box.checked = localStorage.getItem(SWITCH) !== "off";
  box.addEventListener("change", () => localStorage.setItem(SWITCH, box.checked ? "on" : "off"));
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.target.closest("input:not([type=range], [type=radio], [type=checkbox]), textarea, select, dialog")) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === "z" && !event.shiftKey) run(shortcuts.undo, event);
    else if (!command && !event.altKey && box.checked && Object.hasOwn(shortcuts.keys, event.key)) run(shortcuts.keys[event.key], event);
  });
}

function run(shortcut, event) {
  event.preventDefault();
  shortcut();
}
