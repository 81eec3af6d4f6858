// The linter looks for mistakes, not for style.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser },
    rules: {
      eqeqeq: "error",
      "no-control-regex": "off", // results may hold control characters, which are made visible
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
