// Compare: the same word in two sentences by layer, and two sentences or two models side by side.

import { ask, values } from "../api.js";
import { fill, h, s, short } from "../dom.js";
import { matrix } from "../draw/matrix.js";
import { asked, state } from "../state.js";
import { labels } from "../draw/labels.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

const other = { text: "They walked along the bank of the river.", word: "bank", model: "" };

/** @param {HTMLElement} place */
export async function compareView(place) {
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  if (!state.names.includes(other.model)) other.model = model.name;
  const board = h("section", { "aria-live": "polite" });
  const text = /** @type {HTMLInputElement} */ (h("input", { type: "text", value: other.text, "aria-label": "Second text" }));
  const word = /** @type {HTMLInputElement} */ (h("input", { type: "text", value: other.word, "aria-label": "A word that both have" }));
  const second = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Second model" }, ...state.names.map((name) => h("option", { value: name, selected: name === other.model }, name))));
  const go = () => {
    other.text = text.value;
    other.word = word.value;
    other.model = second.value;
    draw(board, run, model);
  };
  fill(
    place,
    h("h2", {}, "Compare"),
    h("p", {}, "The text above, beside another; with the same model, or with another one."),
    h("div", { class: "controls" }, h("label", { class: "grow" }, text), h("label", {}, "word ", word), h("label", {}, "model ", second), h("button", { type: "button", class: "main", onclick: go }, "Compare")),
    board,
  );
  await draw(board, run, model);
}

/** @param {HTMLElement} board @param {Run} run @param {Model} model */
async function draw(board, run, model) {
  const described = /** @type {Model} */ (other.model === model.name ? model : await ask(`models/${encodeURIComponent(other.model)}`));
  const request = { ...asked(), model: other.model, text: other.text };
  if (described.family === "encoder-only") delete request.decoding;
  else request.decoding = { max_new_tokens: 24, ...(described.family === "decoder-only" ? { temperature: 0 } : {}) };
  if (described.targets.length) request.to = described.targets.includes(state.to) ? state.to : described.targets[0];
  else delete request.to;
  const beside = /** @type {Run} */ (await ask("runs", request));
  const inBoth = [state.text, other.text].every((text) => text.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u).includes(other.word.trim().toLowerCase()));
  const likeness = other.model === model.name && inBoth ? await ask("similarity", { model: model.name, first: state.text, second: other.text, word: other.word, ...(request.to ? { to: request.to } : {}) }).catch((error) => ({ problem: error.message })) : null;
  if (!board.isConnected) return;
  const sides = await Promise.all([run, beside].map((one) => side(one)));
  fill(board, likeness ? curve(likeness) : h("p", { class: "quiet" }, `“${other.word}” is not a word of both texts, or the models differ`), h("div", { class: "before-after" }, h("div", {}, h("h3", {}, model.name), sides[0]), h("div", {}, h("h3", {}, other.model), sides[1])));
}

/** @param {{problem?: string, layers?: [string, number][]}} found */
function curve(found) {
  if (!found.layers) return h("p", { class: "quiet" }, found.problem ?? "");
  const wide = 480;
  const high = 160;
  const layers = found.layers;
  const low = Math.min(0, ...layers.map(([, value]) => value));
  const x = (/** @type {number} */ place) => 40 + ((wide - 60) * place) / Math.max(1, layers.length - 1);
  const y = (/** @type {number} */ value) => 10 + ((high - 40) * (1 - value)) / (1 - low);
  const points = layers.map(([, value], place) => `${x(place)},${y(value)}`).join(" ");
  return h(
    "section",
    { class: "panel" },
    h("h3", {}, `“${other.word}” in both sentences: how alike its vectors are, layer by layer`),
    h("div", { class: "scroll" }, s("svg", { width: wide, height: high, role: "img", "aria-label": layers.map(([site, value]) => `${site} ${short(value, 3)}`).join(", ") }, s("polyline", { points, fill: "none", stroke: "#2d7dd2", "stroke-width": 2 }), ...layers.map(([site, value], place) => s("g", {}, s("circle", { cx: x(place), cy: y(value), r: 4, fill: "#2d7dd2" }, s("title", {}, `${site}: ${value}`)), s("text", { x: x(place) - 12, y: high - 8, fill: "currentColor", "font-size": 12 }, place ? `layer ${place - 1}` : "embed"), s("text", { x: x(place) - 12, y: y(value) - 8, fill: "currentColor", "font-size": 12 }, short(value, 3)))))),
  );
}

/** @param {Run} run */
async function side(run) {
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const site = patterns.filter((one) => one.includes("cross")).pop() ?? patterns.pop();
  if (!site) return h("p", {}, "no attention");
  const found = await values(run.run, site, 0);
  return h("div", {}, run.text ? h("p", {}, "→ ", h("strong", {}, run.text)) : null, h("p", { class: "quiet" }, `${site}, head 0`), matrix(found, { rows: labels(run, site, "Q", found.shape[0]), columns: labels(run, site, "K", found.shape[1]), name: site }));
}
