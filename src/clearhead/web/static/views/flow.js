// The flow: the architecture as the model's own configuration says it, the numbers of the run in every part of it.

import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { shape } from "../draw/shape.js";
import { tree } from "../draw/tree.js";
import { rerun, state } from "../state.js";
import { why } from "./why.js";
import { drawZoom, settled, zoom } from "./zoom.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

/** @type {number} */
let playing = 0;

/** @param {HTMLElement} place */
export function flowView(place) {
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  settled(run);
  const detail = h("section", { class: "zoom", "aria-label": "Zoom" });
  fill(
    place,
    h("h2", {}, `${model.name}: ${model.family}, ${(model.parameters / 1e6).toFixed(2)} million parameters`),
    decoding(run, model, place),
    h("div", { class: "columns" }, ...Object.keys(model.stacks).map((name) => stack(name, model, run, place)), detail),
  );
  drawZoom(detail, run, model, () => flowView(place));
}

/** @param {Run} run @param {Model} model @param {HTMLElement} place */
function decoding(run, model, place) {
  const steps = run.candidates.length;
  if (!steps) return h("div", {});
  const writes = run.written.length > 0;
  const step = Math.min(state.step, steps - 1);
  const first = run.target.length - steps;
  const own = model.family === "encoder-only" ? run.source : run.target;
  const here = model.family === "encoder-only" ? step : first + step;
  const tokens = h(
    "ol",
    { class: "tokens", "aria-label": writes ? "What the decoder was given so far" : "The text" },
    ...own.map((token, index) => h("li", { class: `token${writes && index >= run.nPrompt ? " new" : ""}${index === here ? " here" : ""}${writes && index > here ? " later" : ""}` }, token.shown)),
  );
  const chosen = writes ? run.written[step]?.id : undefined;
  const slider = h("input", { type: "range", min: 0, max: steps - 1, value: step, "aria-label": "Step", oninput: (/** @type {Event} */ event) => jump(Number(/** @type {HTMLInputElement} */ (event.target).value), place) });
  const cached = model.stacks.decoder ? `cache: ${here + 1} positions of ${model.stacks.decoder.layers} layers` : "";
  return h(
    "section",
    { class: "panel" },
    run.text ? h("p", {}, "→ ", h("strong", { id: "output" }, run.text)) : null,
    tokens,
    h(
      "div",
      { class: "stepper" },
      h("button", { type: "button", onclick: () => jump(step - 1, place), disabled: step === 0 }, "← back"),
      h("button", { type: "button", onclick: () => play(place) }, playing ? "pause" : "play"),
      h("button", { type: "button", onclick: () => jump(step + 1, place), disabled: step >= steps - 1 }, "next →"),
      slider,
      h("span", { class: "quiet" }, `${writes ? "step" : "position"} ${step + 1} of ${steps}${writes && cached ? ` · ${cached}` : ""}`),
    ),
    settings(model),
    h("h3", {}, writes ? "What could come next, and what was taken" : "What the head says here"),
    bars(run.candidates[step], { chosen, onpick: (one) => why("logits", run.sites.logits.axes === "BV" ? { V: one.id } : { [model.family === "encoder-only" ? "S" : "T"]: step, V: one.id }) }),
    run.beams.length ? h("details", {}, h("summary", {}, `the beam tree: score ${short(run.score ?? 0)}`), tree(run.beams, run.written.map((token) => token.id))) : null,
  );
}

/** @param {Model} model */
function settings(model) {
  if (model.family === "encoder-only") return null;
  const rows = model.family === "encoder-decoder" ? [["beams", 1, 8, 1]] : [["temperature", 0, 2, 0.1], ["top_k", 0, 100, 1], ["top_p", 0.05, 1, 0.05]];
  return h(
    "details",
    {},
    h("summary", {}, "decoding"),
    h(
      "div",
      { class: "controls" },
      ...rows.map(([name, low, high, step]) => {
        const value = state.decoding[String(name)] ?? (name === "beams" ? 4 : name === "temperature" ? 0 : name === "top_p" ? 1 : 0);
        const told = h("output", {}, String(value));
        const change = (/** @type {Event} */ event) => {
          const chosen = Number(/** @type {HTMLInputElement} */ (event.target).value);
          told.textContent = String(chosen);
          state.decoding[String(name)] = chosen;
          if (model.family === "decoder-only") state.decoding.seed = 1;
          rerun();
        };
        return h("label", {}, `${String(name).replace("_", "-")} `, h("input", { type: "range", min: low, max: high, step, value, onchange: change }), told);
      }),
    ),
  );
}

/** @param {number} step @param {HTMLElement} place */
function jump(step, place) {
  const steps = /** @type {Run} */ (state.run).candidates.length;
  state.step = Math.min(Math.max(step, 0), steps - 1);
  flowView(place);
}

/** @param {HTMLElement} place */
function play(place) {
  if (playing) {
    clearInterval(playing);
    playing = 0;
    flowView(place);
    return;
  }
  playing = setInterval(() => {
    const run = state.run;
    if (!run || state.view !== "flow" || state.step >= run.candidates.length - 1) {
      clearInterval(playing);
      playing = 0;
    }
    if (state.view === "flow" && run) jump(state.step + 1, place);
  }, 700);
  flowView(place);
}

/** @param {string} name @param {Model} model @param {Run} run @param {HTMLElement} place */
function stack(name, model, run, place) {
  const config = model.stacks[name];
  const embed = Object.keys(model.stacks).length === 1 ? "embed" : `${name}.embed`;
  const crosses = name === "decoder" && "encoder" in model.stacks;
  const blocks = Array.from({ length: config.layers }, (_, layer) => {
    const block = `${name}.${layer}`;
    return h(
      "div",
      { class: "block" },
      h("p", {}, `block ${layer}`),
      part(`${block}.self.pattern`, `self-attention, ${config.heads} heads`, run, place, block, "self"),
      crosses ? part(`${block}.cross.pattern`, `cross-attention, ${config.heads} heads`, run, place, block, "cross", "cross") : null,
      part(`${block}.ffn.hidden`, `feed-forward, ${config.activation}${config.gated ? ", gated" : ""}`, run, place, block, "ffn"),
    );
  });
  const last = name === "encoder" && "decoder" in model.stacks;
  return h(
    "section",
    { class: "stack", "aria-label": name },
    h("h3", {}, name === "encoder" ? "encoder: reads" : crosses ? "decoder: writes, looks at the encoder" : "decoder: goes on"),
    part(`${embed}.token`, "tokens → vectors", run, place, embed, ""),
    `${embed}.position` in run.sites ? part(`${embed}.position`, `+ positions: ${config.position}`, run, place, embed, "") : h("p", { class: "quiet" }, `positions: ${config.position}, inside attention`),
    h("div", { class: "arrow", "aria-hidden": "true" }, "↓"),
    ...blocks,
    h("div", { class: "arrow", "aria-hidden": "true" }, "↓"),
    `${name}.final_norm` in run.sites ? part(`${name}.final_norm`, `last norm: ${config.norm}`, run, place, name, "") : null,
    last ? h("p", { class: "quiet" }, "→ keys and values of every cross-attention") : null,
    !last && "logits" in run.sites ? part("logits", "logits → probabilities", run, place, "", "") : null,
    !last && "vector" in run.sites ? part("vector", "one vector for the text", run, place, "", "") : null,
  );
}

/**
 * @param {string} site
 * @param {string} title
 * @param {Run} run
 * @param {HTMLElement} place
 * @param {string} block
 * @param {string} inside
 * @param {string} [kind]
 */
function part(site, title, run, place, block, inside, kind = "") {
  const record = run.sites[site];
  if (!record) return null;
  const key = inside ? `${block}.${inside}` : "";
  const pressed = inside ? zoom.block === key : zoom.site === site;
  const pick = () => {
    zoom.block = key;
    zoom.site = inside ? "" : site;
    flowView(place);
  };
  return h("button", { class: `part ${kind}`, type: "button", "aria-pressed": String(pressed), onclick: pick }, h("span", {}, title), shape(record.axes, record.shape));
}
