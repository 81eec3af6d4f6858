// Handing results to the person: as a file, or on the clipboard.

import { el } from "./dom.js";

/**
 * Downloads text or a blob under a name.
 * @param {string} name
 * @param {string | Blob} content
 * @param {string} [type]
 */
export function download(name, content, type = "text/plain") {
  const blob = content instanceof Blob ? content : new Blob([content], { type: `${type};charset=utf-8` });
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Copies text or a picture; says whether the browser allowed it.
 * @param {string | Blob} content
 */
export async function copy(content) {
  try {
    if (content instanceof Blob) await navigator.clipboard.write([new ClipboardItem({ [content.type]: content })]);
    else await navigator.clipboard.writeText(content);
    return true;
  } catch {
    return false;
  }
}
