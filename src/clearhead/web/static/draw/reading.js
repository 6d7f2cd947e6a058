// A pattern as a text to read: choose a word, and the others are shaded by how much it looks at them.

import { h, short } from "../dom.js";
import { scaleOf } from "./colour.js";

/** @typedef {import("../api.js").Values} Values */

/**
 * @param {Values} values queries by keys
 * @param {string[]} queries
 * @param {string[]} keys
 * @param {(query: number, key: number) => void} onpick
 * @returns {HTMLElement}
 */
export function reading(values, queries, keys, onpick) {
  const columns = keys.length;
  const same = queries.length === keys.length && queries.every((word, place) => word === keys[place]);
  const said = h("p", { class: "readout", "aria-live": "polite" }, "Choose a word.");
  let reverse = false;
  let chosen = -1;
  const chips = keys.map((word, place) => chip(word, place, same));
  const askers = same ? chips : queries.map((word, place) => chip(word, place, true));

  /** @param {string} word @param {number} place @param {boolean} asks */
  function chip(word, place, asks) {
    const choose = () => asks && show(place);
    return h("button", { type: "button", class: "chip", tabindex: place ? -1 : 0, onmouseenter: choose, onfocus: choose, onclick: () => (asks && chosen !== place ? show(place) : chosen >= 0 && !reverse && onpick(chosen, place)) }, word);
  }

  /** @param {number} place */
  function show(place) {
    chosen = place;
    const shares = (reverse ? askers : chips).map((_, other) => values.data[reverse ? other * columns + place : place * columns + other] || 0);
    const scale = scaleOf(Float32Array.from(shares));
    (reverse ? askers : chips).forEach((element, other) => {
      const [r, g, b] = scale.rgb(shares[other]);
      element.style.background = `rgb(${r} ${g} ${b})`;
      element.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1b1b26" : "#ffffff";
    });
    askers.forEach((element, other) => element.classList.toggle("asks", other === place));
    const most = shares.map((share, other) => ({ share, other })).sort((a, b) => b.share - a.share).slice(0, 6);
    const words = reverse ? queries : keys;
    said.textContent = `${queries[place]} ${reverse ? "is looked at by" : "looks at"} ${most.map(({ share, other }) => `${words[other]} ${short(share, 3)}`).join(", ")}`;
  }

  /** @param {KeyboardEvent} event */
  function roam(event) {
    const list = chips.includes(/** @type {HTMLElement} */ (event.target)) ? chips : askers;
    const place = list.indexOf(/** @type {HTMLElement} */ (event.target));
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (place < 0 || !step) return;
    event.preventDefault();
    list[Math.max(0, Math.min(list.length - 1, place + step))].focus();
  }

  const turn = same ? h("label", { class: "line" }, h("input", { type: "checkbox", onchange: (/** @type {Event} */ event) => { reverse = /** @type {HTMLInputElement} */ (event.target).checked; if (chosen >= 0) show(chosen); } }), "who looks at it, instead of whom it looks at") : null;
  const texts = same ? [h("div", { class: "chips" }, ...chips)] : [h("h3", {}, "who looks"), h("div", { class: "chips" }, ...askers), h("h3", {}, "at whom"), h("div", { class: "chips" }, ...chips)];
  const box = h("div", { class: "reading" }, said, turn, ...texts);
  box.addEventListener("keydown", roam);
  return box;
}
