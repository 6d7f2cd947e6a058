// What if? Change something inside, and see the text, the probabilities and the patterns before and after.

import { ask, values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { matrix } from "../draw/matrix.js";
import { asked, state } from "../state.js";
import { headGrid } from "./attention.js";
import { labels } from "../draw/labels.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

/** What is changed; it stays while the text changes. */
const change = {
  /** @type {Set<string>} */ off: new Set(),
  /** @type {Set<string>} */ skipped: new Set(),
  open: false,
  factor: 1,
  /** @type {[string, number, number] | null} */ swap: null,
  /** @type {{site: string, head: number, query: number, key: number} | null} */ look: null,
  /** @type {number | null} */ drop: null,
};
const shown = { site: "", head: 0, part: "" };

/** The edits by name, as the server reads them. */
function edits() {
  const model = /** @type {Model} */ (state.model);
  const stacks = Object.keys(model.stacks);
  /** @type {Map<string, number[]>} */
  const heads = new Map();
  for (const one of change.off) {
    const [site, head] = one.split(" ");
    const part = site.replace(".pattern", "");
    heads.set(part, [...(heads.get(part) ?? []), Number(head)]);
  }
  const found = [...heads].map(([part, list]) => `ablate:${part}:head=${list.join("+")}`);
  for (const block of change.skipped) found.push(`skip:${block}`);
  if (change.open) found.push("open-mask:decoder");
  if (change.factor !== 1) found.push(...stacks.map((stack) => `scale:${stack}.*.self:factor=${change.factor}`));
  if (change.swap) found.push(`swap:${change.swap[0]}:first=${change.swap[1]},second=${change.swap[2]}`);
  if (change.drop !== null) found.push(`drop:${"encoder" in model.stacks ? (model.stacks.decoder ? "cross" : "encoder") : "decoder"}:position=${change.drop}`);
  if (change.look) found.push(`look:${change.look.site.replace(".pattern", "")}:head=${change.look.head},query=${change.look.query},key=${change.look.key}`);
  return found;
}

function forget() {
  change.off.clear();
  change.skipped.clear();
  Object.assign(change, { open: false, factor: 1, swap: null, look: null, drop: null });
}

/** @type {string} */
let of = "";

/** @param {HTMLElement} place */
export async function whatIfView(place) {
  const run = /** @type {Run} */ (state.run);
  const model = /** @type {Model} */ (state.model);
  if (of !== model.name) forget();
  of = model.name;
  const names = edits();
  const result = h("section", { class: "panel", "aria-live": "polite", "aria-label": "Before and after" }, h("p", { class: "quiet" }, names.length ? "running …" : "Nothing is changed yet: switch a head off, or move something below."));
  const again = () => whatIfView(place);
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const grid = await headGrid(run, patterns.filter((site) => site.split(".").length > 3), [], (site, head) => {
    const key = `${site} ${head}`;
    if (!change.off.delete(key)) change.off.add(key);
    again();
  }, change.off);
  fill(
    place,
    h("h2", {}, "What if?"),
    h("div", { class: "controls" }, h("button", { type: "button", onclick: () => { forget(); again(); }, disabled: !names.length }, "undo everything"), h("code", {}, names.map((name) => `--edit ${name}`).join("  "))),
    result,
    h("div", { class: "columns" }, h("section", { "aria-label": "Heads" }, h("h3", {}, "Heads: click to switch off"), grid), h("section", { class: "zoom" }, ...controls(model, run, again))),
  );
  if (names.length) {
    const after = /** @type {Run} */ (await ask("runs", asked(names)));
    if (state.run === run && state.view === "whatif") fill(result, ...(await compared(run, after, model, again)));
  }
}

/** @param {Model} model @param {Run} run @param {() => void} again */
function controls(model, run, again) {
  const blocks = Object.entries(model.stacks).flatMap(([stack, config]) => Array.from({ length: config.layers }, (_, layer) => `${stack}.${layer}`));
  const read = model.stacks.encoder ? run.source : run.target;
  const stack = model.stacks.encoder ? "encoder" : "decoder";
  const places = (/** @type {number | null} */ now) => [h("option", { value: "" }, "–"), ...read.map((token, index) => h("option", { value: index, selected: index === now }, `${index}: ${token.shown}`))];
  const first = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "first position" }, ...places(change.swap?.[1] ?? null)));
  const second = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "second position" }, ...places(change.swap?.[2] ?? null)));
  const swapped = () => {
    change.swap = first.value !== "" && second.value !== "" && first.value !== second.value ? [stack, Number(first.value), Number(second.value)] : null;
    again();
  };
  first.addEventListener("change", swapped);
  second.addEventListener("change", swapped);
  const told = h("output", {}, `× ${short(change.factor, 3)}`);
  return [
    h("h3", {}, "Blocks: leave one out"),
    h("div", { class: "controls" }, ...blocks.map((block) => h("label", {}, h("input", { type: "checkbox", checked: change.skipped.has(block), onchange: () => { if (!change.skipped.delete(block)) change.skipped.add(block); again(); } }), block))),
    model.stacks.decoder ? h("div", { class: "controls" }, h("label", {}, h("input", { type: "checkbox", checked: change.open, onchange: () => { change.open = !change.open; again(); } }), "open the causal mask: let every position see the future")) : null,
    h("div", { class: "controls" }, h("label", {}, "scores of self-attention ", h("input", { type: "range", min: -3, max: 3, step: 0.5, value: Math.log2(change.factor), "aria-label": "factor of the scores", onchange: (/** @type {Event} */ event) => { change.factor = 2 ** Number(/** @type {HTMLInputElement} */ (event.target).value); again(); } }), told)),
    h("div", { class: "controls" }, "exchange the positions of ", first, " and ", second),
    h("div", { class: "controls" }, h("label", {}, "hide ", h("select", { onchange: (/** @type {Event} */ event) => { const value = /** @type {HTMLSelectElement} */ (event.target).value; change.drop = value === "" ? null : Number(value); again(); } }, ...places(change.drop)))),
    change.look ? h("p", {}, `position ${change.look.query} looks only at ${change.look.key} in ${change.look.site}, head ${change.look.head}`) : null,
    h("p", { class: "quiet" }, "In the pattern above, click a cell to make its row look there and nowhere else."),
  ];
}

/** @param {Run} before @param {Run} after @param {Model} model @param {() => void} again */
async function compared(before, after, model, again) {
  const step = Math.min(state.step, before.candidates.length - 1, after.candidates.length - 1);
  const shares = new Map(after.candidates[Math.max(0, step)]?.map((one) => [one.id, one.p]));
  const candidates = before.candidates[Math.max(0, step)] ?? [];
  const patterns = Object.keys(before.sites).filter((site) => site.endsWith(".pattern") && site in after.sites);
  if (!patterns.includes(shown.site)) shown.site = patterns.find((site) => site.includes("cross")) ?? patterns[0];
  const heads = before.sites[shown.site].shape[1];
  shown.head = Math.min(shown.head, heads - 1);
  const pictures = await Promise.all([before, after].map(async (run) => {
    const found = await values(run.run, shown.site, shown.head);
    const pick = (/** @type {number} */ row, /** @type {number} */ column) => {
      change.look = { site: shown.site, head: shown.head, query: row, key: column };
      again();
    };
    return matrix(found, { rows: labels(run, shown.site, "Q", found.shape[0]), columns: labels(run, shown.site, "K", found.shape[1]), name: `${shown.site} ${run === before ? "before" : "after"}`, onpick: pick });
  }));
  const differs = before.text !== after.text;
  return [
    model.family === "encoder-only" ? null : h("div", { class: "before-after" }, h("div", {}, h("h3", {}, "before"), h("p", { id: "before" }, before.text)), h("div", {}, h("h3", {}, "after"), h("p", { id: "after", class: differs ? "changed" : "" }, after.text, differs ? "" : " (the same)"))),
    h("h3", {}, `probabilities at ${model.family === "encoder-only" ? "position" : "step"} ${step + 1}`),
    bars(candidates.filter((one) => shares.has(one.id)), { after: shares }),
    h("div", { class: "controls" }, h("label", {}, "pattern ", h("select", { onchange: (/** @type {Event} */ event) => { shown.site = /** @type {HTMLSelectElement} */ (event.target).value; again(); } }, ...patterns.map((site) => h("option", { value: site, selected: site === shown.site }, site)))), h("label", {}, "head ", h("select", { onchange: (/** @type {Event} */ event) => { shown.head = Number(/** @type {HTMLSelectElement} */ (event.target).value); again(); } }, ...Array.from({ length: heads }, (_, head) => h("option", { value: head, selected: head === shown.head }, String(head)))))),
    h("div", { class: "before-after" }, h("div", {}, h("h3", {}, "before"), pictures[0]), h("div", {}, h("h3", {}, "after"), pictures[1])),
  ];
}
