// Attention: every head of every layer at a glance, one of them in full, as cells and as lines between words.

import { ask, values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { lines } from "../draw/lines.js";
import { matrix, thumbnail } from "../draw/matrix.js";
import { state } from "../state.js";
import { labels } from "../draw/labels.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {{site: string, head: number, previous: number, first: number, own: number, entropy: number, distance: number, sharpest: number, kind: string}} Summary */

const chosen = { site: "", head: 0, part: "", lines: false };
const MOST_LINES = 60;

/** @param {HTMLElement} place */
export async function attentionView(place) {
  const run = /** @type {Run} */ (state.run);
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const parts = [...new Set(patterns.map(partOf))];
  if (!parts.includes(chosen.part)) chosen.part = parts.find((part) => part.includes("cross")) ?? parts[0];
  const sites = patterns.filter((site) => partOf(site) === chosen.part);
  if (!sites.includes(chosen.site)) chosen.site = sites[sites.length - 1];
  chosen.head = Math.min(chosen.head, run.sites[chosen.site].shape[1] - 1);
  const { heads } = await ask(`runs/${run.run}/heads`);
  const grid = await headGrid(run, sites, heads, (site, head) => {
    chosen.site = site;
    chosen.head = head;
    attentionView(place);
  });
  const detail = await oneHead(run, heads);
  if (state.run !== run || state.view !== "attention") return;
  fill(
    place,
    h("h2", {}, "Who looks at whom"),
    h(
      "div",
      { class: "controls" },
      h("label", {}, "attention ", h("select", { onchange: (/** @type {Event} */ event) => choosePart(event, place) }, ...parts.map((part) => h("option", { value: part, selected: part === chosen.part }, part)))),
      h("label", {}, h("input", { type: "checkbox", checked: chosen.lines, onchange: (/** @type {Event} */ event) => chooseLines(event, place) }), "as lines between words"),
    ),
    h("div", { class: "columns" }, h("section", { "aria-label": "All heads" }, h("h3", {}, "layers × heads"), grid), h("section", { class: "zoom", "aria-label": "One head" }, detail)),
  );
}

/** @param {string} site */
function partOf(site) {
  const parts = site.split(".");
  return parts.length > 3 ? `${parts[0]} ${parts[2]}` : parts.slice(0, -1).join(" ");
}

/** @param {Event} event @param {HTMLElement} place */
function choosePart(event, place) {
  chosen.part = /** @type {HTMLSelectElement} */ (event.target).value;
  attentionView(place);
}

/** @param {Event} event @param {HTMLElement} place */
function chooseLines(event, place) {
  chosen.lines = /** @type {HTMLInputElement} */ (event.target).checked;
  attentionView(place);
}

/**
 * Every head as a small picture.
 * @param {Run} run
 * @param {string[]} sites
 * @param {Summary[]} summaries
 * @param {(site: string, head: number) => void} onpick
 * @param {Set<string>} [off] heads that are switched off, as "site head"
 */
export async function headGrid(run, sites, summaries, onpick, off) {
  const nHeads = run.sites[sites[0]].shape[1];
  const grid = h("div", { class: "headgrid" });
  grid.style.gridTemplateColumns = `max-content repeat(${nHeads}, max-content)`;
  for (const site of sites) {
    const found = await values(run.run, site);
    const [, rows, columns] = found.shape;
    grid.append(h("span", { class: "name" }, site.split(".").slice(0, 2).join(" ")));
    for (let head = 0; head < nHeads; head++) {
      const summary = summaries.find((one) => one.site === site && one.head === head);
      const told = summary ? `${summary.kind}; entropy ${short(summary.entropy, 3)} bits, distance ${short(summary.distance, 3)}, previous token ${short(summary.previous, 2)}, first token ${short(summary.first, 2)}` : "";
      const isOff = off?.has(`${site} ${head}`) ?? false;
      const pressed = off ? isOff : site === chosen.site && head === chosen.head;
      const name = `${site.replace(".pattern", "")} head ${head}`;
      const picture = thumbnail(found.data.subarray(head * rows * columns, (head + 1) * rows * columns), rows, columns, 64);
      grid.append(h("button", { type: "button", class: isOff ? "off" : "", "aria-pressed": String(pressed), "aria-label": off ? `switch ${name} ${isOff ? "on" : "off"}` : `${name}: ${told}`, title: `${name}\n${told}`, onclick: () => onpick(site, head) }, picture));
    }
  }
  return grid;
}

/** @param {Run} run @param {Summary[]} summaries */
async function oneHead(run, summaries) {
  const { site, head } = chosen;
  const found = await values(run.run, site, head);
  const queries = labels(run, site, "Q", found.shape[0]);
  const keys = labels(run, site, "K", found.shape[1]);
  const summary = summaries.find((one) => one.site === site && one.head === head);
  const asLines = chosen.lines && queries.length <= MOST_LINES && keys.length <= MOST_LINES;
  return h(
    "div",
    {},
    h("h3", {}, `${site.replace(".pattern", "")}, head ${head}`),
    summary ? h("p", { class: "quiet" }, `looks mostly at ${summary.kind}: entropy ${short(summary.entropy, 3)} bits, ${short(summary.distance, 3)} positions away, previous token ${short(summary.previous, 3)}, first token ${short(summary.first, 3)}`) : null,
    asLines
      ? lines(found.data, queries, keys)
      : matrix(found, { rows: queries, columns: keys, name: `${site}, head ${head}: rows look at columns`, onpick: (row, column) => why(site, { H: head, Q: row, K: column }) }),
  );
}
