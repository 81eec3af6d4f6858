// Light, dark or as the system has it. Not a module: it must run before the page is first drawn.
"use strict";
(() => {
  const THEMES = ["auto", "light", "dark"];
  const KEY = "zerotag-theme";
  const root = document.documentElement;

  /** @param {string} theme */
  function apply(theme) {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    const button = document.getElementById("theme-toggle");
    if (button) button.textContent = `Theme: ${theme}`;
  }

  function current() {
    const theme = localStorage.getItem(KEY);
    return theme !== null && THEMES.includes(theme) ? theme : "auto";
  }

  function next() {
    const theme = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length];
    localStorage.setItem(KEY, theme);
    apply(theme);
  }

  apply(current());
  document.addEventListener("DOMContentLoaded", () => {
    apply(current());
    document.getElementById("theme-toggle")?.addEventListener("click", next);
  });
})();
