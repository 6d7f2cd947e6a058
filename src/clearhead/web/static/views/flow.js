// The flow: the architecture as the model's own configuration says it, the numbers of the run in every part of it.

import { address, keep } from "../address.js";
import { fill, h } from "../dom.js";
import { connect } from "../draw/connect.js";
import { shape } from "../draw/shape.js";
import { state } from "../state.js";
import { decodingPanel } from "./decoding.js";
import { why } from "./why.js";
import { settled, zoomed } from "./zoom.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

let drawing = 0;

/** @param {HTMLElement} place */
export async function flowView(place) {
  const mine = ++drawing;
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  const again = () => flowView(place);
  settled(run);
  const detail = h("section", { class: "zoom panel wide", "aria-label": "Zoom" }, ...(await zoomed(run, model, again)));
  if (mine !== drawing || state.view !== "flow" || state.run !== run) return;
  const stacks = h("div", { class: "stacks" }, ...Object.keys(model.stacks).map((name) => stack(name, model, run, again)));
  const kind = model.recurrent ? "recurrent encoder-decoder" : model.family;
  fill(
    place,
    h("div", { class: "title" }, h("h2", {}, model.name), h("span", { class: "quiet" }, `${kind}, ${(model.parameters / 1e6).toFixed(2)} million parameters`)),
    invitation(run, model),
    decodingPanel(run, model, again),
    h("div", { class: state.where.block || state.where.site ? "columns near" : "columns" }, stacks, detail),
  );
  connect(stacks);
}

/** What runs here, and what to try first. @param {Run} run @param {Model} model */
function invitation(run, model) {
  const does = { "encoder-decoder": "reads your text, then writes its own, one piece at a time", "decoder-only": "reads your text and goes on with it, one piece at a time", "encoder-only": "reads your whole text at once, every word beside every other" }[model.family] ?? "reads your text";
  const best = run.candidates[run.candidates.length ? Math.min(state.step, run.candidates.length - 1) : 0]?.[0];
  const letter = model.family === "encoder-only" ? "S" : "T";
  const index = run.sites.logits?.axes === "BV" ? {} : { [letter]: Math.min(state.step, run.candidates.length - 1) };
  const ask = best ? h("button", { type: "button", class: "small", onclick: () => why("logits", { ...index, V: best.id }, { run: run.run }) }, `Why “${best.shown}”?`) : null;
  const go = (/** @type {string} */ view, /** @type {string} */ says) => h("a", { class: "try", href: address(view, {}) }, says);
  return h(
    "div",
    { class: "lead" },
    h("p", {}, `A real model, running here: it ${does}. Nothing in it is hidden: click any part, word or number, and see how it was made.`),
    h("p", { class: "tries" }, h("span", { class: "quiet" }, "Try:"), ask, go("attention", "Who looks at whom"), go("whatif", "Switch a head off"), go("course", "Learn it step by step")),
  );
}

/** @param {string} name @param {Model} model @param {Run} run @param {() => Promise<void>} again */
function stack(name, model, run, again) {
  const config = model.stacks[name];
  const embed = `${name}.embed.token` in run.sites ? `${name}.embed` : "embed";
  const crosses = name === "decoder" && "encoder" in model.stacks;
  const title = name === "encoder" ? "Encoder: reads" : crosses ? "Decoder: writes" : "Decoder: goes on";
  const last = name === "encoder" && "decoder" in model.stacks;
  const one = (/** @type {string} */ site, /** @type {string} */ says, /** @type {string} */ kind = "") => part(site, says, run, again, "", "", kind);
  const middle = model.recurrent ? recurrent(name, config, run, again) : Array.from({ length: config.layers }, (_, layer) => block(`${name}.${layer}`, layer, config, crosses, run, again));
  return h(
    "section",
    { class: "stack", "aria-label": name },
    h("h3", {}, title),
    one(`${embed}.token`, "tokens → vectors"),
    `${embed}.position` in run.sites ? one(`${embed}.position`, `+ positions: ${config.position}`) : model.recurrent ? null : h("p", { class: "quiet inside" }, `positions: ${config.position}, inside attention`),
    ...middle,
    `${name}.final_norm` in run.sites ? one(`${name}.final_norm`, `last norm: ${config.norm}`) : null,
    last ? h("p", { class: "quiet inside source-end" }, model.recurrent ? "what every step may look back at" : "keys and values of every cross-attention") : null,
    !last && "logits" in run.sites ? one("logits", "× vocabulary → logits → probabilities") : null,
    !last && "vector" in run.sites ? one("vector", "one vector for the text") : null,
  );
}

/**
 * One block: what it is made of, in the order in which the numbers pass.
 * @param {string} name
 * @param {number} layer
 * @param {import("../api.js").Stack} config
 * @param {boolean} crosses
 * @param {Run} run
 * @param {() => Promise<void>} again
 */
function block(name, layer, config, crosses, run, again) {
  const heads = config.kvHeads === config.heads ? `${config.heads} heads` : `${config.heads} heads on ${config.kvHeads}`;
  const norm = h("span", { class: "norm" }, config.normBefore ? `${config.norm} norm, then + to the stream` : `+ to the stream, then ${config.norm} norm`);
  return h(
    "div",
    { class: "block" },
    h("p", {}, `block ${layer}`),
    part(`${name}.self.pattern`, `self-attention, ${heads}`, run, again, name, "self"),
    crosses ? part(`${name}.cross.pattern`, `cross-attention, ${heads}`, run, again, name, "cross", "cross") : null,
    part(`${name}.ffn.hidden`, `feed-forward, ${config.activation}${config.gated ? ", gated" : ""}`, run, again, name, "ffn"),
    norm,
  );
}

/** Where the zoom stands below the model, as on a phone, it comes into sight. */
function toZoom() {
  const zoom = document.querySelector(".zoom");
  if (zoom && zoom.getBoundingClientRect().top > window.innerHeight - 120) zoom.scrollIntoView({ block: "start" });
}

/** @param {string} name @param {import("../api.js").Stack} config @param {Run} run @param {() => Promise<void>} again */
function recurrent(name, config, run, again) {
  const looks = name === "decoder" && "decoder.cross.pattern" in run.sites;
  return [
    h(
      "div",
      { class: "block" },
      h("p", {}, name === "encoder" ? "cells, in both directions" : "cells, one token after another"),
      looks ? part("decoder.cross.pattern", "Bahdanau attention: v · tanh(query + key)", run, again, "decoder", "cross", "cross") : null,
      part(`${name}.hidden`, `${config.activation}, one state a position`, run, again, "", ""),
    ),
  ];
}

/**
 * A part of the architecture: a button with the shape of what passes there.
 * @param {string} site
 * @param {string} title
 * @param {Run} run
 * @param {() => Promise<void>} again
 * @param {string} block
 * @param {string} inside
 * @param {string} [kind]
 */
function part(site, title, run, again, block, inside, kind = "") {
  const record = run.sites[site];
  if (!record) return null;
  const key = inside ? `${block}.${inside}` : "";
  const pressed = inside ? state.where.block === key : state.where.site === site;
  const pick = () => {
    keep({ block: key, site: inside ? "" : site });
    again().then(toZoom);
  };
  return h("button", { class: `part ${kind}`, type: "button", "aria-pressed": String(pressed), onclick: pick }, h("span", {}, title), shape(record.axes, record.shape));
}
