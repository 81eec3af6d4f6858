// The service: two calls, and every way they can go wrong as one kind of error.

const KEY = "zerotag-api-key";

/** Why the service gave no result. `kind` is offline, key, large, invalid, busy, unavailable or failed. */
export class Problem extends Error {
  /**
   * @param {string} kind
   * @param {string} message
   * @param {{retryAfter?: number | null, where?: string | null}} [details]
   */
  constructor(kind, message, { retryAfter = null, where = null } = {}) {
    super(message);
    this.kind = kind;
    this.retryAfter = retryAfter;
    this.where = where;
  }

  /** Whether the same request may succeed a little later. */
  get passes() {
    return ["offline", "busy", "unavailable"].includes(this.kind);
  }
}

/**
 * Remembers the API key until the tab is closed.
 * @param {string} key
 */
export function setKey(key) {
  sessionStorage.setItem(KEY, key);
}

/**
 * What the service has: {models, limits}.
 * @returns {Promise<Offer>}
 */
export function fetchModels() {
  return ask("v1/models");
}

/**
 * Records of texts (strings or lists of words) by one model and method, in their order: {revision, results}.
 * @param {(string | string[])[]} texts
 * @param {Reading} reading
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export function label(texts, reading, signal) {
  const body = JSON.stringify({ texts, model: reading.model, method: reading.method });
  return ask("v1/label", { method: "POST", body, signal, headers: { "Content-Type": "application/json" } });
}

/** @type {Record<number, string>} */
const KINDS = { 401: "key", 403: "failed", 413: "large", 422: "invalid", 429: "busy", 503: "unavailable" };

/**
 * What an address of the service answers, as JSON or as text; nothing for an answer without content.
 * @param {string} path
 * @param {RequestInit & {headers?: Record<string, string>, as?: "json" | "text" | "blob"}} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, { headers = {}, as = "json", ...options } = {}) {
  const key = sessionStorage.getItem(KEY);
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: key ? { ...headers, Authorization: `Bearer ${key}` } : headers });
    if (answer.ok) return answer.status === 204 ? undefined : await answer[as]();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem("offline", "The server does not answer.");
  }
  const { error } = await answer.json().catch(() => ({}));
  throw new Problem(KINDS[answer.status] ?? "failed", error ? sentenceOf(error.message) : `The server answered with ${answer.status}.`, {
    retryAfter: Number(answer.headers.get("Retry-After")) || null,
    where: error?.where,
  });
}

/**
 * The service's messages begin small and have no full stop.
 * @param {string} message
 */
function sentenceOf(message) {
  return `${message[0].toUpperCase()}${message.slice(1)}${/[.?!]$/.test(message) ? "" : "."}`;
}
