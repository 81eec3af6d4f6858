// The bar over the list: search, filter, order, the scale of the shades, and a hint for those who are here for the first time.

import { byId, debounced, decimal, el } from "./dom.js";
import { FILTERS, ORDERS } from "./listing.js";

const SEEN = "zerotag-corrected-once";
const PAUSE = 150;

/** @param {Session} session */
export function connectListbar(session) {
  const search = debounced(() => session.list({ search: byId("search").value }), PAUSE);
  byId("search").addEventListener("input", search);
  byId("filter").addEventListener("change", () => session.list({ filter: /** @type {Filter} */ (byId("filter").value) }));
  byId("sort").addEventListener("change", () => session.list({ order: /** @type {Order} */ (byId("sort").value) }));
  byId("list-all").addEventListener("click", () => {
    byId("search").value = "";
    byId("filter").value = "all";
    session.list({ search: "", filter: "all" });
    byId("search").focus();
  });
  const relist = debounced(() => session.relist(), 2 * PAUSE);
  session.on("results thresholds corrections label readings", relist);
  const offer = () => {
    const hasGold = session.units.some((unit) => unit.gold !== undefined);
    const filters = Object.entries(FILTERS).filter(([name]) => name !== "wrong" || hasGold);
    fill(byId("filter"), filters, session.listing.filter);
  };
  fill(byId("sort"), Object.entries(ORDERS), session.listing.order);
  session.on("units", offer);
  session.on("units listed", () => {
    const { listedCount, units } = session;
    byId("listed").textContent = listedCount < units.length ? `${listedCount.toLocaleString("en")} of ${units.length.toLocaleString("en")} listed` : "";
    byId("none-listed").hidden = listedCount > 0 || !units.length;
  });
  session.on("readings label thresholds scale", () => showLegend(session));
  connectHint(session);
}

/** @param {Session} session */
function showLegend(session) {
  const { main } = session;
  if (!main) return;
  const entries = session.shown(main).slice(0, 1).map((label) => {
    const top = decimal(session.fullest(main, label), 2);
    const { word_threshold: threshold } = session.rule(main, label);
    const hue = session.shown(main).length > 1 ? "k7" : session.hue(label);
    const low = session.modelOf(main).methods.length ? "0" : "";
    const mark = session.shown(main).length > 1 ? [] : [el("span", {}, el("u", { text: "underlined" }), ` from ${decimal(threshold, 2)}`)];
    return [el("span", { class: hue }, low, " ", el("i", {}), " ", top), ...mark];
  });
  byId("legend").replaceChildren("Word score", ...entries.flat());
}

/**
 * Until a first correction was made on this computer, the list says that it can be.
 * @param {Session} session
 */
function connectHint(session) {
  const hint = byId("hint");
  const forget = () => {
    localStorage.setItem(SEEN, "yes");
    hint.hidden = true;
  };
  byId("hint-close").addEventListener("click", forget);
  session.on("results", () => (hint.hidden = localStorage.getItem(SEEN) !== null));
  session.on("corrections", () => session.corrections.count && forget());
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[][]} options
 * @param {string} chosen
 */
function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, text, selected: value === chosen })));
}
