// What a person would find wrong at first sight: a list of lines, empty where all is well.
() => {
  const root = document.querySelector("dialog[open]") ?? document.body;
  const problems = [];
  const unseen = ".hidden, .working .hero, .skip, [hidden], option, select";

  /** The part of a rectangle that is not cut off by what scrolls around it. */
  const shownPart = (element, { left, top, right, bottom }) => {
    for (let at = element.parentElement; at && at !== root.parentElement; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const box = at.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return { left, top, right, bottom };
  };
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest(unseen);
  const named = (element) => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""} “${element.textContent.trim().slice(0, 30)}”`;

  if (document.documentElement.scrollWidth > innerWidth) problems.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);

  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!isShown(node.parentElement)) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}]{2,}/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (lines.size > 1) problems.push(`the word ${word} is broken in ${named(node.parentElement)}`);
    }
  }

  for (const element of root.querySelectorAll("button, label > span, legend")) {
    if (isShown(element) && element.scrollWidth > element.clientWidth + 1 && element.clientWidth) problems.push(`the text is cut off in ${named(element)}`);
  }

  const blocks = [...root.querySelectorAll("button, select, textarea, h1, h2, h3, p, li > .sentence > *, label, legend, output, .legend > span, th, td")];
  const boxes = blocks.filter((one) => isShown(one) && !one.closest(".thresholds, .toast, .tip, .popover, .notice")).map((element) => ({ element, box: shownPart(element, element.getBoundingClientRect()) }));
  boxes.forEach(({ element, box }, i) => {
    for (const other of boxes.slice(i + 1)) {
      if (element.contains(other.element) || other.element.contains(element)) continue;
      const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (wide > 2 && high > 2) problems.push(`${named(element)} and ${named(other.element)} overlap`);
    }
  });
  return problems;
}
