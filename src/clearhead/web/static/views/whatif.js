// What if? Change something inside, and see the text, the probabilities and the patterns before and after.

import { keep } from "../address.js";
import { ask, values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { explore } from "../draw/explore.js";
import { labels } from "../draw/labels.js";
import { asked, state } from "../state.js";
import { headGrid } from "./attention.js";
import { changes, listed, lookBy, lookOnly, toggled } from "./changes.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

const KEYS = ["off", "skip", "open", "factor", "swap", "look", "drop"];
let of = "";
let drawing = 0;

/** @param {HTMLElement} place */
export async function whatIfView(place) {
  const mine = ++drawing;
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  const nothing = Object.fromEntries(KEYS.map((key) => [key, ""]));
  if (of && of !== model.name) keep(nothing);
  of = model.name;
  const set = (/** @type {Record<string, string | number>} */ given) => {
    keep(given);
    whatIfView(place);
  };
  const made = changes(model);
  const names = made.flatMap((one) => one.edits);
  const sites = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const off = new Set(listed("off").map((one) => one.replace(":", ".pattern ")));
  const grid = sites.length ? await headGrid(run, sites, [], { off, onpick: (site, head) => set({ off: toggled("off", `${site.replace(".pattern", "")}:${head}`) }) }) : null;
  if (mine !== drawing || state.view !== "whatif" || state.run !== run) return;
  const result = h("section", { class: "panel wide", "aria-live": "polite", "aria-label": "Before and after" }, h("p", { class: "quiet" }, "running …"));
  const chips = made.map((one) => h("button", { type: "button", class: "small", title: "undo this", onclick: () => set({ [one.key]: one.value }) }, `${one.says} ✕`));
  fill(
    place,
    h("h2", {}, "What if?"),
    h("div", { class: "controls" }, h("button", { type: "button", onclick: () => set(nothing), disabled: !made.length }, "undo everything"), ...chips, made.length ? null : h("span", { class: "quiet" }, "Nothing is changed yet: switch a head off, drag a cell of a pattern, or move something below.")),
    h("div", { class: "columns" }, h("section", { class: "panel overview-grid", "aria-label": "What to change" }, grid ? h("h3", {}, "Heads: click to switch off") : null, grid, ...controls(model, run, set)), result),
    names.length ? h("p", { class: "quiet" }, "The same on the command line: ", h("code", {}, names.map((name) => `--edit ${name}`).join(" "))) : null,
  );
  const after = names.length ? /** @type {Run} */ (await ask("runs", asked(names))) : run;
  const shown = await compared(run, after, model, set);
  if (mine === drawing && state.run === run && state.view === "whatif") fill(result, ...shown);
}

/** @param {Model} model @param {Run} run @param {(given: Record<string, string | number>) => void} set */
function controls(model, run, set) {
  const blocks = model.recurrent ? [] : Object.entries(model.stacks).flatMap(([stack, config]) => Array.from({ length: config.layers }, (_, layer) => `${stack}.${layer}`));
  const read = model.stacks.encoder ? run.source : run.target;
  const stack = model.stacks.encoder ? "encoder" : "decoder";
  const now = (state.where.swap ?? "").split(":");
  const places = (/** @type {string} */ chosen) => [h("option", { value: "" }, "–"), ...read.map((token, index) => h("option", { value: index, selected: String(index) === chosen }, `${index}: ${token.shown}`))];
  const first = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "first position" }, ...places(now[1] ?? "")));
  const second = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "second position" }, ...places(now[2] ?? "")));
  const swapped = () => set({ swap: first.value !== "" && second.value !== "" && first.value !== second.value ? `${stack}:${first.value}:${second.value}` : "" });
  first.addEventListener("change", () => second.value !== "" && swapped());
  second.addEventListener("change", swapped);
  const factor = Number(state.where.factor ?? 1);
  const scaled = (/** @type {Event} */ event) => {
    const value = Number((2 ** Number(/** @type {HTMLInputElement} */ (event.target).value)).toFixed(4));
    set({ factor: value === 1 ? "" : value });
  };
  const width = Object.values(model.stacks)[0].headWidth;
  const hide = (/** @type {Event} */ event) => set({ drop: /** @type {HTMLSelectElement} */ (event.target).value });
  if (model.recurrent) return [h("p", { class: "quiet" }, "A recurrent network has no blocks and no positions to change; its attention can be switched off and dragged.")];
  return [
    h("h3", {}, "Blocks: leave one out"),
    h("div", { class: "controls" }, ...blocks.map((block) => h("label", {}, h("input", { type: "checkbox", checked: listed("skip").includes(block), "aria-label": `leave out ${block}`, onchange: () => set({ skip: toggled("skip", block) }) }), block))),
    model.stacks.decoder ? h("div", { class: "controls" }, h("label", {}, h("input", { type: "checkbox", checked: Boolean(state.where.open), "aria-label": "open the causal mask", onchange: () => set({ open: state.where.open ? "" : "1" }) }), "open the mask: see the future")) : null,
    h("div", { class: "controls" }, h("label", {}, `scores / √${width} `, h("input", { type: "range", min: -3, max: 3, step: 0.5, value: Math.log2(factor), "aria-label": "factor of the scores", onchange: scaled }), h("output", {}, `× ${short(factor, 3)}`))),
    h("div", { class: "controls" }, "exchange positions ", first, " and ", second),
    h("div", { class: "controls" }, h("label", {}, "hide ", h("select", { onchange: hide }, ...places(state.where.drop ?? "")))),
  ];
}

/** @param {Run} before @param {Run} after @param {Model} model @param {(given: Record<string, string | number>) => void} set */
async function compared(before, after, model, set) {
  const reads = model.family === "encoder-only";
  const last = Math.min(before.candidates.length, after.candidates.length) - 1;
  const step = Math.max(0, Math.min(state.step, last));
  const differs = before.text !== after.text;
  const slide = (/** @type {Event} */ event) => {
    state.step = Number(/** @type {HTMLInputElement} */ (event.target).value);
    set({});
  };
  const stepper = last > 0 ? h("label", { class: "line" }, `${reads ? "position" : "step"} ${step + 1} `, h("input", { type: "range", min: 0, max: last, value: step, "aria-label": "Step", onchange: slide })) : null;
  const side = (/** @type {string} */ name, /** @type {Run} */ run, /** @type {boolean} */ new_) => h("div", {}, h("h3", {}, name), h("p", { id: name, class: `said${new_ && differs ? " changed" : ""}` }, run.text, new_ && !differs && before !== after ? h("span", { class: "quiet" }, " (the same)") : null));
  return [
    reads ? null : h("div", { class: "before-after" }, side("before", before, false), side("after", after, true)),
    last < 0 ? null : h("h3", {}, "What could come here, before and after"),
    stepper,
    last < 0 ? null : await probabilities(before, after, step),
    ...(await patterns(before, after, set)),
  ];
}

/** The likeliest of either side, each with its probability on both. @param {Run} before @param {Run} after @param {number} step */
async function probabilities(before, after, step) {
  const was = before.candidates[step];
  const is = after.candidates[step];
  const joined = [...was.slice(0, 6), ...is.slice(0, 4).filter((one) => !was.slice(0, 6).some((each) => each.id === one.id))];
  const [first, second] = await Promise.all([shares(before, step), shares(after, step)]);
  const rows = joined.map((one) => ({ ...one, p: first(one.id) }));
  return bars(rows, { after: new Map(joined.map((one) => [one.id, second(one.id)])) });
}

/** The probability of any output at a step. @param {Run} run @param {number} step @returns {Promise<(id: number) => number>} */
async function shares(run, step) {
  const alone = run.sites.logits.axes === "BV";
  const { data } = await values(run.run, "logits", alone ? {} : { row: step });
  const most = data.reduce((greatest, one) => Math.max(greatest, one), Number.NEGATIVE_INFINITY);
  const sum = data.reduce((total, one) => total + Math.exp(one - most), 0);
  return (id) => Math.exp(data[id] - most) / sum;
}

/** @param {Run} before @param {Run} after @param {(given: Record<string, string | number>) => void} set */
async function patterns(before, after, set) {
  const sites = Object.keys(before.sites).filter((site) => site.endsWith(".pattern") && site in after.sites);
  if (!sites.length) return [];
  const site = sites.includes(state.where.pattern) ? state.where.pattern : (sites.filter((one) => one.includes("cross")).pop() ?? sites[0]);
  const heads = before.sites[site].shape[1];
  const head = Math.min(Number(state.where.head ?? 0), heads - 1);
  const part = site.replace(".pattern", "");
  const moving = h("p", { class: "quiet", "aria-live": "polite" }, "Drag a cell of the left pattern up or down to change its share (or + and −); click it to look there alone.");
  const choose = (/** @type {string} */ key) => (/** @type {Event} */ event) => set({ [key]: /** @type {HTMLSelectElement} */ (event.target).value });
  const draw = async (/** @type {Run} */ run) => {
    const found = await values(run.run, site, { head });
    const columns = found.shape[1];
    const rows = labels(run, site, "Q", found.shape[0]);
    const keys = labels(run, site, "K", columns);
    const ondrag = (/** @type {number} */ row, /** @type {number} */ column, /** @type {number} */ by, /** @type {boolean} */ done) => {
      const was = found.data[row * columns + column] || 0;
      const share = Math.max(0, Math.min(1, was + by));
      moving.textContent = `${rows[row]} → ${keys[column]}: ${short(was, 3)} becomes ${short(share, 3)}`;
      if (done) set({ look: lookBy(part, head, row, found.data.slice(row * columns, (row + 1) * columns), column, share) });
    };
    const own = run === before;
    return explore(found, { rows, columns: keys, axes: "QK", name: `${site} ${own ? "before" : "after"}`, shares: true, room: 290, says: "", onpick: (row, column) => set({ look: lookOnly(part, head, row, column) }), ondrag: own ? ondrag : undefined });
  };
  const [left, right] = [await draw(before), await draw(after)];
  return [
    h("h3", {}, "Who looks at whom, before and after"),
    h("div", { class: "controls" }, h("label", {}, "pattern ", h("select", { onchange: choose("pattern") }, ...sites.map((one) => h("option", { value: one, selected: one === site }, one)))), h("label", {}, "head ", h("select", { onchange: choose("head") }, ...Array.from({ length: heads }, (_, one) => h("option", { value: one, selected: one === head }, String(one)))))),
    moving,
    h("div", { class: "before-after" }, h("div", {}, h("h3", {}, "before"), left), h("div", {}, h("h3", {}, "after"), right)),
  ];
}
