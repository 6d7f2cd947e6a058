// The course: the worked examples, every number computed while you read.

import { ask } from "../api.js";
import { fill, h, short } from "../dom.js";

/** @typedef {{name: string, computed: any, printed: any, agrees: boolean | null, remark: string, rows: string[], columns: string[], digits: number}} Result */
/** @typedef {{key: string, title: string, shows: string, results: Result[], figures: Record<string, string>}} Example */

let open = "";

/** @param {HTMLElement} place */
export async function courseView(place) {
  const { examples } = /** @type {{examples: string[]}} */ (await ask("examples"));
  if (!examples.includes(open)) open = examples[0];
  const example = /** @type {Example} */ (await ask(`examples/${open}`));
  const choose = (/** @type {string} */ key) => {
    open = key;
    courseView(place);
  };
  fill(
    place,
    h("h2", {}, "Worked examples"),
    h("nav", { "aria-label": "Examples" }, ...examples.map((key) => h("button", { type: "button", "aria-pressed": String(key === open), onclick: () => choose(key) }, key))),
    h("h3", {}, `${example.key}: ${example.title}`),
    h("p", {}, example.shows),
    ...example.results.map(result),
    ...Object.entries(example.figures).map(([name, svg]) => h("figure", { class: "scroll" }, h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: name }))),
  );
}

/** @param {Result} one */
function result(one) {
  return h(
    "section",
    { class: "panel" },
    h("h3", {}, one.name),
    value(one.computed, one),
    one.printed === null ? null : h("div", {}, h("p", { class: one.agrees ? "good" : "bad" }, one.agrees ? "the notes print the same" : "the notes print another number:"), one.agrees ? null : value(one.printed, one)),
    one.remark ? h("p", { class: "quiet" }, one.remark) : null,
  );
}

/** @param {any} found @param {Result} one */
function value(found, one) {
  if (!Array.isArray(found)) return h("p", { class: "number" }, typeof found === "number" ? short(found, 7) : String(found));
  const rows = Array.isArray(found[0]) ? found : [found];
  const head = one.columns.length ? h("tr", {}, one.rows.length ? h("th", {}) : null, ...one.columns.map((name) => h("th", { scope: "col" }, name))) : null;
  return h("div", { class: "scroll" }, h("table", {}, head, ...rows.map((row, place) => h("tr", {}, one.rows.length ? h("th", { scope: "row" }, one.rows[place] ?? "") : null, ...row.map((/** @type {number} */ cell) => h("td", {}, typeof cell === "number" ? cell.toFixed(Math.min(one.digits, 6)) : String(cell)))))));
}
