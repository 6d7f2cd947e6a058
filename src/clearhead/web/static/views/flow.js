// The flow: the architecture as the model's own configuration says it, the numbers of the run in every part of it.

import { values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { matrix, thumbnail } from "../draw/matrix.js";
import { shape } from "../draw/shape.js";
import { tree } from "../draw/tree.js";
import { rerun, state } from "../state.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

/** What is looked at: a block, a site of it, a head of that. */
const zoom = { block: "", site: "", head: 0 };
/** @type {number} */
let playing = 0;

/** @param {HTMLElement} place */
export function flowView(place) {
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  if (zoom.site && !(zoom.site in run.sites)) zoom.site = "";
  if (zoom.block && !Object.keys(run.sites).some((site) => site.startsWith(`${zoom.block}.`))) zoom.block = "";
  const detail = h("section", { class: "zoom", "aria-label": "Zoom" });
  fill(
    place,
    h("h2", {}, `${model.name}: ${model.family}, ${(model.parameters / 1e6).toFixed(2)} million parameters`),
    decoding(run, model, place),
    h("div", { class: "columns" }, ...Object.keys(model.stacks).map((name) => stack(name, model, run, place)), detail),
  );
  drawZoom(detail, run, model, place);
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

/** @param {HTMLElement} detail @param {Run} run @param {Model} model @param {HTMLElement} place */
async function drawZoom(detail, run, model, place) {
  const crumbs = h(
    "ol",
    { class: "crumbs", "aria-label": "Where you are" },
    h("li", {}, h("button", { type: "button", onclick: () => reset(place) }, model.name)),
    zoom.block ? h("li", {}, "› ", h("button", { type: "button", onclick: () => inBlock(place) }, zoom.block)) : null,
    zoom.site ? h("li", {}, "› ", h("strong", {}, zoom.site)) : null,
  );
  if (zoom.site) {
    fill(detail, crumbs, await siteView(run, place));
  } else if (zoom.block) {
    const sites = Object.keys(run.sites).filter((site) => site.startsWith(`${zoom.block}.`) || around(site));
    fill(detail, crumbs, h("p", { class: "quiet" }, "Every matrix on the way through this part; click one to open it."), h("div", { class: "cards" }, ...(await Promise.all(sites.map((site) => card(site, run, place))))));
  } else {
    fill(
    detail,
      crumbs,
      h("p", {}, "Click a part to open it: first its matrices, then one of them, then any number in it."),
      h("p", { class: "quiet" }, "Letters: ", ...state.axes.map((axis) => h("span", {}, shape(axis.letter, [""]), ` ${axis.name} `))),
    );
  }
}

/** @param {string} site */
function around(site) {
  const [stack, layer, part] = zoom.block.split(".");
  const streams = /** @type {Record<string, string[]>} */ ({ self: ["resid_pre", "resid_mid"], cross: ["resid_mid", "resid_cross"], ffn: ["resid_mid", "resid_cross", "resid_post"] });
  return (streams[part] ?? []).some((leaf) => site === `${stack}.${layer}.${leaf}`);
}

/** @param {HTMLElement} place */
function reset(place) {
  zoom.block = zoom.site = "";
  flowView(place);
}

/** @param {HTMLElement} place */
function inBlock(place) {
  zoom.site = "";
  flowView(place);
}

/** @param {string} site @param {Run} run @param {HTMLElement} place */
async function card(site, run, place) {
  const record = run.sites[site];
  const heads = record.shape.length === 4;
  const found = await values(run.run, site, heads ? Math.min(zoom.head, record.shape[1] - 1) : undefined);
  const [rows, columns] = found.shape;
  const open = () => {
    zoom.site = site;
    flowView(place);
  };
  return h("button", { class: "card", type: "button", onclick: open, title: record.operation }, h("strong", {}, site.split(".").slice(2).join(".") || site), shape(record.axes, record.shape), thumbnail(found.data, rows, columns));
}

/** @param {Run} run @param {HTMLElement} place */
async function siteView(run, place) {
  const site = zoom.site;
  const record = run.sites[site];
  const heads = record.shape.length === 4 ? record.shape[1] : 0;
  zoom.head = Math.min(zoom.head, Math.max(0, heads - 1));
  const found = await values(run.run, site, heads ? zoom.head : undefined);
  const letters = record.axes.slice(heads ? 2 : 1);
  const table = found.shape.length === 1 ? { data: found.data, shape: [1, found.shape[0]] } : found;
  const rowLetter = found.shape.length === 1 ? "B" : letters[0];
  const columnLetter = letters[letters.length - 1];
  const shown = limited(table);
  const pick = (/** @type {number} */ row, /** @type {number} */ column) => {
    /** @type {Record<string, number>} */
    const index = { [columnLetter]: column };
    if (found.shape.length > 1) index[rowLetter] = row;
    if (heads) index[record.axes[1]] = zoom.head;
    why(site, index);
  };
  const first = run.target.length - table.shape[0];
  const highlight = "TQ".includes(rowLetter) && !site.startsWith("encoder") ? run.target.length - run.candidates.length + state.step - Math.max(0, first) : undefined;
  return h(
    "div",
    {},
    h("p", {}, h("strong", {}, site), " ", shape(record.axes, record.shape)),
    h("p", { class: "formula" }, record.operation),
    heads ? headPicker(heads, record.axes[1], place) : null,
    matrix(shown, { rows: labels(run, site, rowLetter, shown.shape[0]), columns: labels(run, site, columnLetter, shown.shape[1]), name: site, highlight, onpick: pick }),
    shown === table ? null : h("p", { class: "quiet" }, `the first ${shown.shape[1]} of ${table.shape[1]} columns`),
    record.line ? h("p", { class: "quiet" }, `computed at clearhead/${record.line.file}:${record.line.line}`) : null,
    h("p", {}, ...["svg", "png"].map((kind) => h("a", { class: "save", download: `${site}.${kind}`, href: `/api/runs/${run.run}/picture?kind=${kind}&site=${encodeURIComponent(site)}${heads ? `&head=${zoom.head}` : ""}` }, `save as ${kind.toUpperCase()}`))),
  );
}

const MOST_COLUMNS = 512;

/** @param {import("../api.js").Values} table */
function limited(table) {
  const [rows, columns] = table.shape;
  if (columns <= MOST_COLUMNS) return table;
  const data = new Float32Array(rows * MOST_COLUMNS);
  for (let row = 0; row < rows; row++) data.set(table.data.subarray(row * columns, row * columns + MOST_COLUMNS), row * MOST_COLUMNS);
  return { data, shape: [rows, MOST_COLUMNS] };
}

/** @param {number} heads @param {string} letter @param {HTMLElement} place */
function headPicker(heads, letter, place) {
  const change = (/** @type {Event} */ event) => {
    zoom.head = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    flowView(place);
  };
  return h("label", {}, letter === "G" ? "key/value head " : "head ", h("select", { onchange: change }, ...Array.from({ length: heads }, (_, head) => h("option", { value: head, selected: head === zoom.head }, String(head)))));
}

/**
 * What stands along an axis: tokens where there are any, otherwise numbers.
 * @param {Run} run
 * @param {string} site
 * @param {string} letter
 * @param {number} length
 * @returns {string[]}
 */
export function labels(run, site, letter, length) {
  const reads = run.family === "encoder-only" || site.startsWith("encoder.");
  let tokens = null;
  if (letter === "S") tokens = run.source;
  else if (letter === "T") tokens = run.target;
  else if (letter === "Q") tokens = reads ? run.source : run.target;
  else if (letter === "K") tokens = reads || site.includes(".cross.") ? run.source : run.target;
  if (!tokens) return Array.from({ length }, (_, place) => String(place));
  return tokens.slice(tokens.length - length).map((token) => token.shown);
}
