// Compare: the same word in two sentences by layer, and two sentences or two models side by side.

import { address, keep } from "../address.js";
import { ask, values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { curve } from "../draw/curve.js";
import { explore } from "../draw/explore.js";
import { labels } from "../draw/labels.js";
import { request, state } from "../state.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

const USUAL = { second: "They walked along the bank of the river.", word: "bank" };
const TRANSFORMER = "trained: Transformer";
const RECURRENT = "trained: RNN with Bahdanau attention";
let drawing = 0;

/** @param {HTMLElement} place */
export async function compareView(place) {
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  const named = state.where.with ?? "";
  const other = state.names.includes(named) ? named : model.name;
  const second = state.where.second ?? (model.trained ? state.text : USUAL.second);
  const word = state.where.word ?? USUAL.word;
  const board = h("section", { "aria-live": "polite", "aria-label": "Side by side" }, h("p", { class: "quiet" }, "running …"));
  const text = /** @type {HTMLInputElement} */ (h("input", { type: "text", value: second, "aria-label": "Second text" }));
  const shared = /** @type {HTMLInputElement} */ (h("input", { type: "text", size: 10, value: word, "aria-label": "A word that both have" }));
  const models = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Second model" }, ...state.names.map((name) => h("option", { value: name, selected: name === other }, name))));
  const go = () => {
    keep({ second: text.value, word: shared.value, with: models.value });
    compareView(place);
  };
  const same = () => {
    text.value = state.text;
    go();
  };
  const form = h("form", { class: "controls", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); go(); } }, h("label", { class: "grow" }, text), h("button", { type: "button", onclick: same }, "the same text"), h("label", {}, "word ", shared), h("label", {}, "model ", models), h("button", { type: "submit" }, "Compare"));
  fill(place, h("h2", {}, "Compare"), h("p", {}, "The text above beside another, with the same model; or the same text with another model."), beforeAttention(), form, board);
  await draw(board, { run, model, other, second, word });
}

/** Where to find what stood before the Transformer. */
function beforeAttention() {
  if (state.names.includes(TRANSFORMER) && state.names.includes(RECURRENT)) {
    const text = state.model?.trained ? state.text : "a b c d e f";
    const link = `#/compare?${new URLSearchParams({ model: TRANSFORMER, text, with: RECURRENT, second: text })}`;
    return h("p", {}, h("a", { href: link }, "The Transformer beside the RNN with Bahdanau attention"), ", both trained on this page on the same pairs.");
  }
  return h("p", { class: "quiet" }, "A recurrent network with Bahdanau attention can stand beside the Transformer: ", h("a", { href: address("train", {}) }, "train both"), " on a few letters, in about a minute, and come back.");
}

/** @param {HTMLElement} board @param {{run: Run, model: Model, other: string, second: string, word: string}} asked */
async function draw(board, { run, model, other, second, word }) {
  const mine = ++drawing;
  const described = /** @type {Model} */ (other === model.name ? model : await ask(`models/${encodeURIComponent(other)}`));
  const wanted = request(described, second);
  const beside = /** @type {Run} */ (await ask("runs", wanted));
  const inBoth = [state.text, second].every((text) => text.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u).includes(word.trim().toLowerCase()));
  const alike = other === model.name && inBoth && !model.trained && second !== state.text;
  const likeness = alike ? await ask("similarity", { model: model.name, first: state.text, second, word, ...(wanted.to ? { to: wanted.to } : {}) }) : null;
  const sides = await Promise.all([side(run, model, state.text), side(beside, described, second)]);
  if (mine !== drawing || !board.isConnected || state.view !== "compare") return;
  fill(board, likeness ? layers(likeness.layers, word) : null, h("div", { class: "before-after" }, ...sides));
}

/** @param {[string, number][]} found @param {string} word */
function layers(found, word) {
  const points = found.map(([, value], place) => /** @type {[number, number]} */ ([place, value]));
  const ticks = found.map((_, place) => (place ? `layer ${place - 1}` : "embed"));
  const low = Math.max(-1, Math.min(...found.map(([, value]) => value)) - 0.1);
  return h("section", { class: "panel" }, h("h3", {}, `“${word}” in both sentences: the cosine of its two vectors, layer by layer`), h("p", { class: "quiet" }, "1 is the same direction. Where the curve falls, the words around it have made two meanings of one word."), curve([{ name: word, points }], { name: `cosine of “${word}”`, ticks, low: Math.floor(low * 10) / 10, high: 1, dots: true }));
}

/** @param {Run} run @param {Model} model @param {string} text */
async function side(run, model, text) {
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const site = patterns.filter((one) => one.includes("cross")).pop() ?? patterns.pop();
  const step = Math.min(state.step, run.candidates.length - 1);
  const head = h("h3", {}, model.name, " ", h("span", { class: "quiet" }, `${(model.parameters / 1e6).toFixed(2)} million parameters`));
  const said = [h("p", { class: "quiet" }, text), run.text ? h("p", { class: "said" }, "→ ", h("strong", {}, run.text)) : null, run.score === null ? null : h("p", { class: "quiet" }, `score ${short(run.score, 4)}`)];
  const likely = step >= 0 ? [h("h3", {}, `${run.written.length ? "step" : "position"} ${step + 1}`), bars(run.candidates[step].slice(0, 5))] : [];
  if (!site) return h("section", { class: "panel" }, head, ...said, ...likely, h("p", { class: "quiet" }, "No attention: one state carries the whole source."));
  const found = await values(run.run, site, { head: 0 });
  const pick = (/** @type {number} */ row, /** @type {number} */ column) => why(site, { H: 0, Q: row, K: column }, { run: run.run });
  return h("section", { class: "panel" }, head, ...said, ...likely, h("h3", {}, `${site}, head 0`), explore(found, { rows: labels(run, site, "Q", found.shape[0]), columns: labels(run, site, "K", found.shape[1]), axes: "QK", name: site, shares: true, room: 500, onpick: pick }));
}
