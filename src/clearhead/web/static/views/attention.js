// Attention: every head of every layer at a glance, one of them in full: as cells, as lines, as a text to read.

import { keep } from "../address.js";
import { ask, values } from "../api.js";
import { fill, h, s, short } from "../dom.js";
import { scaleOf } from "../draw/colour.js";
import { explore } from "../draw/explore.js";
import { labels } from "../draw/labels.js";
import { lines } from "../draw/lines.js";
import { matrix, thumbnail } from "../draw/matrix.js";
import { reading } from "../draw/reading.js";
import { state } from "../state.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {{site: string, head: number, previous: number, first: number, own: number, entropy: number, distance: number, sharpest: number, kind: string}} Summary */

const SMALL = 48;
/** @type {Record<string, string>} */
const AS = { cells: "cells", lines: "lines", text: "text" };
/** @type {Record<string, string>} */
const BY = { "": "pictures", entropy: "entropy, bits", previous: "share of the previous token", first: "share of the first token", own: "share of itself", distance: "distance", sharpest: "greatest share" };
/** Who asks whom in each kind of attention. @type {Record<string, string>} */
const READS = {
  self: "Each token asks the others of its own text, and takes most from those it looks at most.",
  cross: "Each token that is written asks the source, and takes most from the words it looks at most.",
};
/** What a head mostly does, where one thing stands out. @type {Record<string, string>} */
const KINDS = { elsewhere: "sharp, at no fixed place", spread: "a bit of everything", "previous token": "mostly the previous token", "first token": "mostly the first token", itself: "mostly itself" };
let drawing = 0;

/** @param {HTMLElement} place */
export async function attentionView(place) {
  const mine = ++drawing;
  const run = /** @type {Run} */ (state.run);
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  if (!patterns.length) {
    fill(place, h("p", {}, "This model has no attention: all that it knows of the source is in one state."));
    return;
  }
  const parts = [...new Set(patterns.map(partOf))];
  const wanted = state.where.pattern && patterns.includes(state.where.pattern) ? partOf(state.where.pattern) : (state.where.part ?? "");
  const part = parts.includes(wanted) ? wanted : (parts.find((one) => one.includes("cross")) ?? parts[0]);
  const sites = patterns.filter((site) => partOf(site) === part);
  const site = sites.includes(state.where.pattern) ? state.where.pattern : sites[sites.length - 1];
  const head = Math.min(Number(state.where.head ?? 0), run.sites[site].shape[1] - 1);
  const { heads } = /** @type {{heads: Summary[]}} */ (await ask(`runs/${run.run}/heads`));
  const show = (/** @type {Record<string, string | number>} */ given) => {
    keep(given);
    attentionView(place);
  };
  const grid = state.where.by ? numberGrid(sites, heads, state.where.by, site, head, show) : await headGrid(run, sites, heads, { chosen: `${site} ${head}`, onpick: (pattern, one) => show({ pattern, head: one }) });
  const detail = await oneHead(run, site, head, heads);
  const aligned = part.includes("cross") ? await alignment(run) : null;
  if (mine !== drawing || state.run !== run || state.view !== "attention") return;
  const choose = (/** @type {string} */ key) => (/** @type {Event} */ event) => show({ [key]: /** @type {HTMLSelectElement} */ (event.target).value, ...(key === "part" ? { pattern: "" } : {}) });
  fill(
    place,
    h("h2", {}, "Who looks at whom"),
    h("p", {}, READS[part.split(" ").pop() ?? ""] ?? "", " Every head has a way of its own; choose one, then point at a word."),
    h(
      "div",
      { class: "controls" },
      h("label", {}, "attention ", h("select", { onchange: choose("part") }, ...parts.map((one) => h("option", { value: one, selected: one === part }, one)))),
      h("label", {}, "overview ", h("select", { onchange: choose("by") }, ...Object.entries(BY).map(([key, name]) => h("option", { value: key, selected: key === (state.where.by ?? "") }, name)))),
      h("div", { class: "segments", role: "group", "aria-label": "One head as" }, ...Object.entries(AS).map(([key, name]) => h("button", { type: "button", "aria-pressed": String((state.where.as ?? "cells") === key), onclick: () => show({ as: key }) }, name))),
    ),
    h("div", { class: "columns" }, h("section", { class: "panel overview-grid", "aria-label": "All heads" }, h("h3", {}, "layers × heads"), grid), h("section", { class: "panel wide", "aria-label": "One head" }, detail)),
    aligned,
  );
}

/** @param {string} site */
function partOf(site) {
  const parts = site.split(".");
  return parts.length > 3 ? `${parts[0]} ${parts[2]}` : parts.slice(0, -1).join(" ");
}

/** @param {Summary | undefined} summary */
function told(summary) {
  if (!summary) return "";
  return `${KINDS[summary.kind] ?? summary.kind}; entropy ${short(summary.entropy, 3)} bits, distance ${short(summary.distance, 3)}, previous token ${short(summary.previous, 2)}, first token ${short(summary.first, 2)}`;
}

/**
 * Every head as a small picture.
 * @param {Run} run
 * @param {string[]} sites
 * @param {Summary[]} summaries
 * @param {{chosen?: string, off?: Set<string>, onpick: (site: string, head: number) => void}} options heads as "site head"
 */
export async function headGrid(run, sites, summaries, options) {
  const most = Math.max(...sites.map((site) => run.sites[site].shape[1]));
  const grid = h("div", { class: "headgrid", tabindex: -1 });
  grid.style.gridTemplateColumns = `max-content repeat(${most}, max-content)`;
  const all = await Promise.all(sites.map((site) => values(run.run, site, { most: SMALL })));
  const size = matchMedia("(max-width: 900px)").matches ? 42 : 56;
  sites.forEach((site, layer) => {
    const found = all[layer];
    const [heads, rows, columns] = found.shape;
    grid.append(h("span", { class: "name" }, site.split(".").slice(0, -1).join(" ")));
    for (let head = 0; head < most; head++) {
      if (head >= heads) {
        grid.append(h("span", {}));
        continue;
      }
      const key = `${site} ${head}`;
      const isOff = options.off?.has(key) ?? false;
      const name = `${site.replace(".pattern", "")} head ${head}`;
      const says = told(summaries.find((one) => one.site === site && one.head === head));
      const picture = thumbnail(found.data.subarray(head * rows * columns, (head + 1) * rows * columns), rows, columns, size);
      grid.append(h("button", { type: "button", "data-key": name, class: isOff ? "off" : "", "aria-pressed": String(options.off ? isOff : key === options.chosen), "aria-label": options.off ? `switch ${name} ${isOff ? "on" : "off"}` : `${name}: ${says}`, title: `${name}\n${says}`, onclick: () => options.onpick(site, head) }, picture));
    }
  });
  return h("div", { class: "scroll" }, grid);
}

/**
 * Every head as one number, coloured.
 * @param {string[]} sites
 * @param {Summary[]} summaries
 * @param {string} by
 * @param {string} site
 * @param {number} chosen
 * @param {(given: Record<string, string | number>) => void} show
 */
function numberGrid(sites, summaries, by, site, chosen, show) {
  const mine = summaries.filter((one) => sites.includes(one.site));
  const read = (/** @type {Summary} */ one) => Number(/** @type {Record<string, unknown>} */ (/** @type {unknown} */ (one))[by]);
  const scale = scaleOf(Float32Array.from(mine.map(read)));
  const most = Math.max(...mine.map((one) => one.head)) + 1;
  const grid = h("div", { class: "headgrid numbers" });
  grid.style.gridTemplateColumns = `max-content repeat(${most}, max-content)`;
  for (const layer of sites) {
    grid.append(h("span", { class: "name" }, layer.split(".").slice(0, -1).join(" ")));
    for (const one of mine.filter((each) => each.site === layer)) {
      const [r, g, b] = scale.rgb(read(one));
      const name = `${layer.replace(".pattern", "")} head ${one.head}`;
      const button = h("button", { type: "button", "data-key": name, "aria-pressed": String(layer === site && one.head === chosen), "aria-label": `${name}: ${BY[by]} ${short(read(one), 3)}`, title: `${name}\n${told(one)}`, onclick: () => show({ pattern: layer, head: one.head }) }, short(read(one), 2));
      button.style.background = `rgb(${r} ${g} ${b})`;
      button.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1b1b26" : "#ffffff";
      grid.append(button);
    }
  }
  return h("div", { class: "scroll" }, grid);
}

/** @param {Run} run @param {string} site @param {number} head @param {Summary[]} summaries */
async function oneHead(run, site, head, summaries) {
  const found = await values(run.run, site, { head });
  const queries = labels(run, site, "Q", found.shape[0]);
  const keys = labels(run, site, "K", found.shape[1]);
  const summary = summaries.find((one) => one.site === site && one.head === head);
  const ask_ = (/** @type {number} */ row, /** @type {number} */ column) => why(site, { H: head, Q: row, K: column }, { run: run.run });
  const as = state.where.as ?? "cells";
  const start = { row: Number(state.where.rows ?? 0), column: Number(state.where.columns ?? 0), size: 32 };
  const onmove = (/** @type {{row: number, column: number}} */ view) => keep({ rows: view.row || "", columns: view.column || "" });
  const base = { rows: queries, columns: keys, axes: "QK", name: `${site}, head ${head}: rows look at columns`, onpick: ask_, shares: true, start, onmove, room: 640 };
  const asLines = (/** @type {import("../api.js").Values} */ part, /** @type {{row: number, column: number}} */ view) => lines(part.data, queries.slice(view.row, view.row + part.shape[0]), keys.slice(view.column, view.column + part.shape[1]));
  return h(
    "div",
    {},
    h("h3", {}, `${site.replace(".pattern", "")}, head ${head}`),
    summary ? h("p", { class: "quiet" }, `Its habit: ${told(summary)}`) : null,
    as === "lines" ? explore(found, { ...base, detail: asLines }) : as === "text" ? reading(found, queries, keys, ask_) : explore(found, base),
  );
}

/** The words of a translation and what they were made from. @param {Run} run */
async function alignment(run) {
  const found = await ask(`runs/${run.run}/alignment`).catch(() => null);
  if (!found?.source?.length || !found.target?.length) return null;
  const data = Float32Array.from(found.weights.flat());
  const shape = [found.target.length, found.source.length];
  const right = found.weights.length === shape[0];
  if (!right) return null;
  const one = data.length ? lines(data, found.target, found.source) : s("svg");
  return h("section", { class: "panel alignment", "aria-label": "Alignment" }, h("h3", {}, "Which words were made from which"), h("p", { class: "quiet" }, "The layer that looks most sharply, mean of its heads, pieces joined to words."), h("div", { class: "columns" }, h("div", { class: "wide" }, one), h("div", { class: "wide" }, matrix({ data, shape }, { rows: found.target, columns: found.source, axes: "TS", name: "alignment of words", room: 520 }))));
}
