// Elements without markup: text is only ever text, and styles are set as properties, as the security policy asks.

/**
 * An element; `properties` are attributes, besides `text`, `on` (listeners by event) and `style` (CSS properties).
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "style") for (const [property, one] of Object.entries(value)) element.style.setProperty(property, one);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/**
 * The element with an id.
 * @template {keyof PageElements} K
 * @param {K} id
 * @returns {PageElements[K]}
 */
export function byId(id) {
  return /** @type {PageElements[K]} */ (document.getElementById(id));
}

/**
 * A value that is there: where it is not, the page has a defect.
 * @template T
 * @param {T | null | undefined} value
 * @returns {T}
 */
export function present(value) {
  if (value === null || value === undefined) throw new Error("something the page needs is not there");
  return value;
}

/**
 * Whether a text runs from the right: by its first letter, as browsers decide.
 * @param {string} text
 */
export function directionOf(text) {
  return /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u.test(text) ? "rtl" : "ltr";
}

/**
 * Text for screen readers only.
 * @param {string} text
 */
export function hidden(text) {
  return el("span", { class: "hidden", text });
}

/**
 * A function that runs once, a while after its last call.
 * @template {unknown[]} A
 * @param {(...given: A) => void} run
 * @param {number} milliseconds
 * @returns {(...given: A) => void}
 */
export function debounced(run, milliseconds) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds, ...given);
  };
}

/**
 * A function that runs once, a while after its first call, and in all no more than a share of the time: what has to look at
 * every sentence waits the longer, the more there are.
 * @param {() => void} run
 * @param {number} milliseconds
 */
export function paced(run, milliseconds) {
  const REST = 9; // times as long as the last run took
  let waiting = false;
  let earliest = 0;
  const now = () => {
    waiting = false;
    const start = performance.now();
    run();
    const end = performance.now();
    earliest = end + REST * (end - start);
  };
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(now, Math.max(milliseconds, earliest - performance.now()));
  };
}

/**
 * A number with so many decimals; never `-0.00`.
 * @param {number} number
 * @param {number} digits
 */
export function decimal(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}

/**
 * `1 word`, `2 words`, `1,000 words`.
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Puts a popover beside the element it belongs to, inside the window.
 * @param {HTMLElement} popover
 * @param {Element} anchor
 */
export function placeBeside(popover, anchor) {
  const at = anchor.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const below = at.bottom + 6;
  const fitsBelow = below + height <= innerHeight - 8;
  const top = fitsBelow ? below : at.top > height + 6 ? at.top - height - 6 : innerHeight - height - 8;
  popover.style.setProperty("left", `${left}px`);
  popover.style.setProperty("top", `${Math.max(8, top)}px`);
}
