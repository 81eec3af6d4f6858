// Permalinks: text and settings in the fragment of the address, which browsers never send to a server.

const LONGEST = 60_000; // characters; beyond that, mail programs and chats cut links off

/**
 * The address of this page with a state in its fragment; throws an Error for people if it gets too long.
 * @param {object} state
 */
export async function linkTo(state) {
  const fragment = await encode(state);
  if (fragment.length > LONGEST) throw new Error("This is too much text for a link. Download the result instead.");
  const url = new URL(location.href);
  url.hash = fragment;
  return url.href;
}

/**
 * Whether a fragment is that of a permalink.
 * @param {string} fragment
 */
export function holdsState(fragment) {
  return /^#[zp]=/.test(fragment);
}

/**
 * The state in a fragment, null if there is none; throws an Error for people if it is damaged.
 * @param {string} fragment
 * @returns {Promise<PageState | null>}
 */
export async function stateIn(fragment) {
  if (!holdsState(fragment)) return null;
  const [kind, data] = [fragment[1], fragment.slice(3)];
  try {
    const bytes = Uint8Array.from(atob(data.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const plain = kind === "z" ? await through(new DecompressionStream("deflate-raw"), bytes) : bytes;
    return checked(JSON.parse(new TextDecoder().decode(plain)));
  } catch {
    throw new Error("This link is damaged: its text cannot be read. Ask for it again.");
  }
}

/** @param {object} state */
async function encode(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const compresses = "CompressionStream" in window;
  const packed = compresses ? await through(new CompressionStream("deflate-raw"), bytes) : bytes;
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return `${compresses ? "z" : "p"}=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/**
 * @param {ReadableWritablePair<BufferSource, BufferSource>} stream
 * @param {BufferSource} bytes
 */
async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/**
 * A link can come from anybody, and a draft from another version: only what has the right shape is taken from it.
 * @param {Record<string, any>} state
 * @returns {PageState}
 */
export function checked({ text, units, readings, label, thresholds, corrections }) {
  /** @param {unknown} value */
  const isText = (value) => typeof value === "string";
  /** @param {unknown} value */
  const isUnit = (value) => isText(value) || (Array.isArray(value) && value.every(isText));
  if (!isText(text) && !(Array.isArray(units) && units.every(isUnit))) throw new Error("no text");
  /** @param {unknown[]} correction */
  const isCorrection = ([unit, word, name, yes]) => [unit, word].every(Number.isInteger) && isText(name) && typeof yes === "boolean";
  const pairs = Array.isArray(readings) ? readings.filter((one) => Array.isArray(one) && one.every(isText)) : [];
  return {
    text: isText(text) ? text : null,
    units: isText(text) ? null : units,
    readings: pairs.map(([model, method]) => ({ model, method })),
    label: isText(label) ? label : null,
    thresholds: Object.entries(thresholds ?? {}).filter(([, threshold]) => Number.isFinite(threshold)),
    corrections: (corrections ?? []).filter(isCorrection),
  };
}
