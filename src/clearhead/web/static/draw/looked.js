// What one position looks at, as words that are darker the more of its attention they get.

import { values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { scaleOf } from "./colour.js";
import { labels } from "./labels.js";

/** @typedef {import("../api.js").Run} Run */

/**
 * The words that a position looks at in the last layer, the mean of its heads. Empty until the numbers are there.
 * @param {Run} run
 * @param {number} row the position that looks
 * @param {(site: string, index: Record<string, number>) => void} onpick
 * @returns {HTMLElement}
 */
export function lookedAt(run, row, onpick) {
  const box = h("div", { class: "looked" });
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const site = patterns.filter((one) => one.includes("cross")).pop() ?? patterns.pop();
  if (site) drawn(box, run, site, row, onpick).catch(() => fill(box));
  return box;
}

/** @param {HTMLElement} box @param {Run} run @param {string} site @param {number} row @param {(site: string, index: Record<string, number>) => void} onpick */
async function drawn(box, run, site, row, onpick) {
  const found = await values(run.run, site);
  const [heads, rows, columns] = found.shape;
  const query = Math.min(row, rows - 1);
  const open = site.startsWith("decoder") && !site.includes("cross") ? query + 1 : columns; // the mask closes what comes later
  const share = (/** @type {number} */ head, /** @type {number} */ key) => found.data[(head * rows + query) * columns + key] || 0;
  const all = Array.from({ length: heads }, (_, head) => head);
  const means = Array.from({ length: columns }, (_, key) => all.reduce((sum, head) => sum + share(head, key), 0) / heads);
  const scale = scaleOf(Float32Array.from([0, 1]));
  const words = labels(run, site, "K", columns).slice(0, open).map((word, key) => {
    const best = all.reduce((most, head) => (share(head, key) > share(most, key) ? head : most), 0);
    const [r, g, b] = scale.rgb(means[key] ** 0.7);
    const button = h("button", { type: "button", class: "chip", title: `${short(means[key], 4)} of its attention; ask why`, onclick: () => onpick(site, { H: best, Q: query, K: key }) }, word, h("small", {}, short(means[key], 2)));
    button.style.background = `rgb(${r} ${g} ${b})`;
    button.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1b1b26" : "#ffffff";
    return h("li", {}, button);
  });
  const whom = site.includes("cross") ? "the source" : "its text";
  const asks = labels(run, site, "Q", rows)[query];
  fill(box, h("h3", {}, `Where “${asks}” looks in ${whom}`), h("ol", { class: "chips", "aria-label": "What it looks at" }, ...words), h("p", { class: "quiet" }, `Shares of ${site}, mean of ${heads} head${heads > 1 ? "s" : ""}; they sum to 1.`));
}
