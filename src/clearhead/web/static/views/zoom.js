// Zoom: from a block to its matrices, from a matrix to any of its numbers.

import { values } from "../api.js";
import { fill, h } from "../dom.js";
import { labels } from "../draw/labels.js";
import { matrix, thumbnail } from "../draw/matrix.js";
import { shape } from "../draw/shape.js";
import { state } from "../state.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

/** What is looked at: a block, a site of it, a head of that. */
export const zoom = { block: "", site: "", head: 0 };

/** @param {Run} run forgets what this run does not have */
export function settled(run) {
  if (zoom.site && !(zoom.site in run.sites)) zoom.site = "";
  if (zoom.block && !Object.keys(run.sites).some((site) => site.startsWith(`${zoom.block}.`))) zoom.block = "";
}

/** @param {HTMLElement} detail @param {Run} run @param {Model} model @param {() => void} again */
export async function drawZoom(detail, run, model, again) {
  const crumbs = h(
    "ol",
    { class: "crumbs", "aria-label": "Where you are" },
    h("li", {}, h("button", { type: "button", onclick: () => reset(again) }, model.name)),
    zoom.block ? h("li", {}, "› ", h("button", { type: "button", onclick: () => inBlock(again) }, zoom.block)) : null,
    zoom.site ? h("li", {}, "› ", h("strong", {}, zoom.site)) : null,
  );
  if (zoom.site) {
    fill(detail, crumbs, await siteView(run, again));
  } else if (zoom.block) {
    const sites = Object.keys(run.sites).filter((site) => site.startsWith(`${zoom.block}.`) || around(site));
    fill(detail, crumbs, h("p", { class: "quiet" }, "Every matrix on the way through this part; click one to open it."), h("div", { class: "cards" }, ...(await Promise.all(sites.map((site) => card(site, run, again))))));
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

/** @param {() => void} again */
function reset(again) {
  zoom.block = zoom.site = "";
  again();
}

/** @param {() => void} again */
function inBlock(again) {
  zoom.site = "";
  again();
}

/** @param {string} site @param {Run} run @param {() => void} again */
async function card(site, run, again) {
  const record = run.sites[site];
  const heads = record.shape.length === 4;
  const found = await values(run.run, site, heads ? Math.min(zoom.head, record.shape[1] - 1) : undefined);
  const [rows, columns] = found.shape;
  const open = () => {
    zoom.site = site;
    again();
  };
  return h("button", { class: "card", type: "button", onclick: open, title: record.operation }, h("strong", {}, site.split(".").slice(2).join(".") || site), shape(record.axes, record.shape), thumbnail(found.data, rows, columns));
}

/** @param {Run} run @param {() => void} again */
async function siteView(run, again) {
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
    heads ? headPicker(heads, record.axes[1], again) : null,
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

/** @param {number} heads @param {string} letter @param {() => void} again */
function headPicker(heads, letter, again) {
  const change = (/** @type {Event} */ event) => {
    zoom.head = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    again();
  };
  return h("label", {}, letter === "G" ? "key/value head " : "head ", h("select", { onchange: change }, ...Array.from({ length: heads }, (_, head) => h("option", { value: head, selected: head === zoom.head }, String(head)))));
}
