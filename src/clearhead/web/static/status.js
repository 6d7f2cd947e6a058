// One line that says how things stand, to those who see and to those who hear.

import { byId } from "./dom.js";

/** @param {string} text @param {boolean} [isError] */
export function say(text, isError = false) {
  const place = byId("status");
  place.textContent = text;
  place.classList.toggle("error", isError);
}

/** @param {unknown} error */
export function complain(error) {
  say(error instanceof Error ? error.message : String(error), true);
}
