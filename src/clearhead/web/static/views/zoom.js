// Zoom: from a block to its matrices, from a matrix to one head of it, and to any of its numbers.

import { keep } from "../address.js";
import { values } from "../api.js";
import { h } from "../dom.js";
import { explore } from "../draw/explore.js";
import { labels } from "../draw/labels.js";
import { thumbnail } from "../draw/matrix.js";
import { legend, shape } from "../draw/shape.js";
import { tableInWords } from "../draw/words.js";
import { state } from "../state.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

const SMALL = 48;

/** @param {Run} run forgets what this run does not have */
export function settled(run) {
  const { site, block } = state.where;
  if (site && !(site in run.sites)) delete state.where.site;
  if (block && !Object.keys(run.sites).some((one) => one.startsWith(`${block}.`))) delete state.where.block;
}

/**
 * What is looked at, from wide to near.
 * @param {Run} run
 * @param {Model} model
 * @param {() => void} again
 * @returns {Promise<(HTMLElement | null)[]>}
 */
export async function zoomed(run, model, again) {
  const { block, site } = state.where;
  const go = (/** @type {Record<string, string>} */ where) => () => {
    keep(where);
    again();
  };
  const crumb = (/** @type {string} */ name, /** @type {Record<string, string>} */ where, /** @type {boolean} */ here) => h("li", {}, here ? h("strong", { "aria-current": "location" }, name) : h("button", { type: "button", class: "small", onclick: go(where) }, name));
  const crumbs = h(
    "ol",
    { class: "crumbs", "aria-label": "Where you are" },
    crumb(model.name, { block: "", site: "" }, !block && !site),
    block ? crumb(`› ${block}`, { site: "" }, !site) : null,
    site ? crumb(`› ${site}`, {}, true) : null,
  );
  if (site) return [crumbs, await siteView(run, site, again)];
  if (block) {
    const sites = Object.keys(run.sites).filter((one) => one.startsWith(`${block}.`) || around(one, block));
    const cards = await Promise.all(sites.map((one) => card(one, run, go({ site: one }))));
    return [crumbs, h("p", { class: "quiet" }, "Every matrix on the way through this part, in the order in which they are computed; click one to open it."), h("div", { class: "cards" }, ...cards)];
  }
  return [
    crumbs,
    h("p", {}, "Click a part of the model to open it: first its matrices, then one of them, then any number in it."),
    h("h3", {}, "What the letters and colours mean"),
    legend(),
  ];
}

/** @param {string} site @param {string} block */
function around(site, block) {
  const [stack, layer, part] = block.split(".");
  const streams = /** @type {Record<string, string[]>} */ ({ self: ["resid_pre", "resid_mid"], cross: ["resid_mid", "resid_cross"], ffn: ["resid_mid", "resid_cross", "resid_post"] });
  return (streams[part] ?? []).some((leaf) => site === `${stack}.${layer}.${leaf}`);
}

/** @param {Run} run @param {string} site */
function headsOf(run, site) {
  const record = run.sites[site];
  return record.shape.length === 4 ? record.shape[1] : 0;
}

/** @param {string} site @param {Run} run @param {() => void} open */
async function card(site, run, open) {
  const record = run.sites[site];
  const head = headsOf(run, site) ? Math.min(Number(state.where.head ?? 0), headsOf(run, site) - 1) : undefined;
  const found = await values(run.run, site, { head, most: SMALL });
  const [rows, columns] = found.shape.length === 1 ? [1, found.shape[0]] : found.shape;
  return h("button", { class: "card", type: "button", "data-site": site, onclick: open, title: tableInWords(site) }, h("strong", {}, site.split(".").slice(2).join(".") || site), shape(record.axes, record.shape), thumbnail(found.data, rows, columns), h("small", {}, record.operation.replaceAll(`${site.split(".").slice(0, 2).join(".")}.`, "")));
}

/** @param {Run} run @param {string} site @param {() => void} again */
async function siteView(run, site, again) {
  const record = run.sites[site];
  const heads = headsOf(run, site);
  const head = Math.min(Number(state.where.head ?? 0), Math.max(0, heads - 1));
  const found = await values(run.run, site, { head: heads ? head : undefined });
  const letters = record.axes.slice(heads ? 2 : 1);
  const alone = found.shape.length === 1;
  const table = alone ? { data: found.data, shape: [1, found.shape[0]] } : found;
  const rowLetter = alone ? "B" : letters[0];
  const columnLetter = letters[letters.length - 1];
  const pick = (/** @type {number} */ row, /** @type {number} */ column) => {
    /** @type {Record<string, number>} */
    const index = { [columnLetter]: column };
    if (!alone) index[rowLetter] = row;
    if (heads) index[record.axes[1]] = head;
    why(site, index, { run: run.run });
  };
  const first = run.target.length - table.shape[0];
  const highlight = "TQ".includes(rowLetter) && !site.startsWith("encoder") ? run.target.length - run.candidates.length + state.step - Math.max(0, first) : undefined;
  const picture = (/** @type {string} */ kind) => h("a", { class: "save", download: `${site}.${kind}`, href: `/api/runs/${run.run}/picture?kind=${kind}&site=${encodeURIComponent(site)}${heads ? `&head=${head}` : ""}` }, `save as ${kind.toUpperCase()}`);
  return h(
    "div",
    {},
    h("p", { class: "site-name" }, h("strong", {}, site), " ", shape(record.axes, record.shape)),
    h("p", { class: "in-words" }, tableInWords(site)),
    h("p", { class: "formula quiet" }, record.operation),
    heads ? await headPicker(run, site, heads, head, again) : null,
    explore(table, { rows: labels(run, site, rowLetter, table.shape[0]), columns: labels(run, site, columnLetter, table.shape[1]), axes: rowLetter + columnLetter, name: site, highlight, onpick: pick, shares: site.endsWith(".pattern"), room: 620 }),
    record.line ? h("p", { class: "quiet" }, `computed at clearhead/${record.line.file}:${record.line.line}`) : null,
    h("p", {}, picture("svg"), picture("png")),
  );
}

/** @param {Run} run @param {string} site @param {number} heads @param {number} chosen @param {() => void} again */
async function headPicker(run, site, heads, chosen, again) {
  const found = await values(run.run, site, { most: SMALL });
  const [, rows, columns] = found.shape;
  const buttons = Array.from({ length: heads }, (_, head) => {
    const choose = () => {
      keep({ head });
      again();
    };
    return h("button", { type: "button", class: "card head", "data-key": `head ${head}`, "aria-label": `head ${head}`, "aria-pressed": String(head === chosen), onclick: choose }, thumbnail(found.data.subarray(head * rows * columns, (head + 1) * rows * columns), rows, columns, 40), h("small", {}, String(head)));
  });
  return h("div", { class: "heads", role: "group", "aria-label": "Heads" }, ...buttons);
}
