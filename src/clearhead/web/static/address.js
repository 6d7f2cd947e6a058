// The address says all that is shown: the view, the model, the text, and where in the view one is.

import { state } from "./state.js";

/** What each view keeps in the address beside model, text, language and step. @type {Record<string, string[]>} */
const KEYS = {
  flow: ["block", "site", "head"],
  attention: ["part", "pattern", "head", "as", "by", "rows", "columns"],
  whatif: ["off", "skip", "open", "factor", "swap", "look", "drop", "pattern", "head"],
  compare: ["second", "word", "with"],
  train: ["task"],
  course: ["chapter"],
};

/**
 * The address of a view with what it shows.
 * @param {string} [view]
 * @param {Record<string, string>} [where]
 */
export function address(view = state.view, where = state.where) {
  const given = new URLSearchParams();
  if (state.model) given.set("model", state.model.name);
  if (state.text) given.set("text", state.text);
  if (state.to) given.set("to", state.to);
  if (state.step) given.set("step", String(state.step));
  for (const key of KEYS[view] ?? []) if (where[key]) given.set(key, where[key]);
  if (state.question && view === state.view) given.set("why", state.question);
  return `#/${view}?${given}`;
}

export function writeAddress() {
  history.replaceState(null, "", address());
}

/**
 * Remembers where in the view one is; what is nothing is forgotten.
 * @param {Record<string, string | number | null | undefined>} given
 */
export function keep(given) {
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === "") delete state.where[key];
    else state.where[key] = String(value);
  }
  writeAddress();
}

/**
 * Takes over what the address says.
 * @param {Record<string, unknown>} views
 * @returns {string | null} the model that it names
 */
export function readAddress(views) {
  const [view, query] = location.hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query ?? "");
  if (view && view in views) state.view = view;
  if (given.has("text")) state.text = /** @type {string} */ (given.get("text"));
  if (given.has("to")) state.to = /** @type {string} */ (given.get("to"));
  if (given.has("step")) state.step = Number(given.get("step")) || 0;
  for (const key of KEYS[state.view] ?? []) {
    const value = given.get(key);
    if (value) state.where[key] = value;
    else delete state.where[key];
  }
  state.question = given.get("why") ?? "";
  return given.get("model");
}
