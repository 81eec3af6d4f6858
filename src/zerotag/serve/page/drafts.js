// What is typed and corrected, kept in this browser: it is there again after a reload or a crash, and each tab has its own.

import { debounced } from "./dom.js";

const TAB = "zerotag-tab";
const LAST = "zerotag-last"; // what the page held as it was left: databases are too slow for that moment
const LONGEST = 1_000_000; // characters of it
const PAUSE = 300; // milliseconds without a change before it is kept
const PATIENCE = 500; // until the page that was reloaded has let go of its name
const MOST = 5; // of tabs that were closed

export class Drafts {
  #tab = "";
  /** @type {IDBDatabase | null} */
  #database = null; // without one, as in some private windows, nothing is kept

  /**
   * Finds what this tab had before it was loaded.
   * @returns {Promise<Draft | undefined>}
   */
  async open() {
    const before = sessionStorage.getItem(TAB);
    this.#database = await opened().catch(() => null);
    this.#tab = before && (await holds(before)) ? before : newTab();
    if (this.#tab !== before) await holds(this.#tab);
    sessionStorage.setItem(TAB, this.#tab);
    const last = sessionStorage.getItem(LAST);
    sessionStorage.removeItem(LAST);
    if (last) return JSON.parse(last);
    return before ? this.#run("readonly", (store) => store.get(before)) : undefined; // a copy of a tab has what that had
  }

  /**
   * What was in the tab that was closed last; older ones are forgotten.
   * @returns {Promise<Draft | undefined>}
   */
  async left() {
    const { held = [] } = (await navigator.locks?.query()) ?? {};
    const open = new Set(held.map(({ name }) => name));
    /** @type {Draft[]} */
    const all = (await this.#run("readonly", (store) => store.getAll())) ?? [];
    const closed = all.filter(({ tab }) => !open.has(lockOf(tab)) && tab !== this.#tab).sort((a, b) => b.saved - a.saved);
    for (const { tab } of closed.slice(MOST)) await this.forget(tab);
    return navigator.locks ? closed[0] : undefined; // else nobody knows which are closed
  }

  /**
   * Keeps what the page holds; nothing where it holds nothing.
   * @param {object | null} state
   */
  async save(state) {
    if (state) await this.#run("readwrite", (store) => store.put({ ...state, tab: this.#tab, saved: Date.now() }));
    else await this.forget(this.#tab);
  }

  /** @param {string} tab */
  async forget(tab) {
    await this.#run("readwrite", (store) => store.delete(tab));
  }

  /**
   * Keeps what the page holds whenever it changes, from now on.
   * @param {Session} session
   * @param {() => object | null} stateOf
   */
  follow(session, stateOf) {
    session.on("units readings label thresholds corrections", debounced(() => void this.save(stateOf()), PAUSE));
    addEventListener("pagehide", () => {
      const last = JSON.stringify(stateOf());
      if (last.length < LONGEST) sessionStorage.setItem(LAST, last);
    });
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest} ask
   * @returns {Promise<any>}
   */
  async #run(mode, ask) {
    if (!this.#database) return undefined;
    return done(ask(this.#database.transaction(STORE, mode).objectStore(STORE))).catch(() => undefined);
  }
}

const STORE = "drafts";

function opened() {
  const asked = indexedDB.open("zerotag", 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore(STORE, { keyPath: "tab" });
  return done(asked);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {string} tab */
function lockOf(tab) {
  return `zerotag-${tab}`;
}

function newTab() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Has the name of a tab for as long as this page lives; says whether it could be had.
 * @param {string} tab
 * @returns {Promise<boolean>}
 */
function holds(tab) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const held = () => {
      resolve(true);
      return new Promise(() => {});
    };
    navigator.locks.request(lockOf(tab), { signal: AbortSignal.timeout(PATIENCE) }, held).catch(() => resolve(false));
  });
}
