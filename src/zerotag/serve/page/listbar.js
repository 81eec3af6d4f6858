// The bar over the list: search, filter, order, the scale of the shades, and a hint for those who are here for the first time.

import { byId, debounced, el, paced } from "./dom.js";
import { comparedScales, legendOf, scale } from "./legend.js";
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
    session.list({ search: "", filter: "all" });
    byId("search").focus();
  });
  const relist = paced(() => session.relist(), 2 * PAUSE);
  session.on("results thresholds corrections label readings", relist);
  const offer = () => {
    const hasGold = session.units.some((unit) => unit.gold !== undefined);
    const filters = Object.entries(FILTERS).filter(([name]) => name !== "wrong" || hasGold);
    fill(byId("filter"), filters, session.listing.filter);
    if (session.listing.filter === "wrong" && !hasGold) session.list({ filter: "all" });
  };
  fill(byId("sort"), Object.entries(ORDERS), session.listing.order);
  session.on("units", offer);
  session.on("units listed", () => {
    const { listedCount, units, listing } = session;
    byId("listed").textContent = listedCount < units.length ? `${listedCount.toLocaleString("en")} of ${units.length.toLocaleString("en")} listed` : "";
    byId("none-listed").hidden = listedCount > 0 || !units.length;
    if (document.activeElement !== byId("search")) byId("search").value = listing.search; // what is being typed stays
    byId("filter").value = listing.filter;
  });
  session.on("readings label thresholds scale", () => showLegend(session));
  connectHint(session);
}

/** @param {Session} session */
function showLegend(session) {
  const { main } = session;
  if (!main) return;
  const labels = session.shown(main);
  const top = Math.max(...labels.map((label) => session.fullest(main, label)));
  // The switch between labels names their hues, and the sliders their thresholds: of several one scale is enough.
  byId("legend").replaceChildren(...(labels.length > 1 ? [scale("k7", "Word score", top), ...comparedScales(session)] : legendOf(session).childNodes));
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
