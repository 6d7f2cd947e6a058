// A worked example whose numbers one may change: what comes out now, and the notes' figure beside it where they differ.

import { ask } from "../api.js";
import { fill, h, short } from "../dom.js";

/** @typedef {{name: string, computed: any, printed: any, agrees: boolean | null, remark: string, rows: string[], columns: string[], digits: number}} Result */
/** @typedef {{key: string, name: string, value: (number[] | string)[], rows: string[], columns: string[], least: number, most: number, whole: boolean}} Input */
/** @typedef {{key: string, title: string, shows: string, results: Result[], figures: Record<string, string>, inputs: Input[]}} Example */

/** @param {string} key @returns {HTMLElement} */
export function workedExample(key) {
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "panel full", "data-example": key }, h("summary", {}, h("strong", {}, `Worked example ${key}`))));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const example = /** @type {Example} */ (await ask(`examples/${key}`));
    const results = h("div", { "aria-live": "polite" });
    details.append(h("h3", {}, example.title), h("p", {}, example.shows), ...sheet(example, results), results);
    show(results, example);
  });
  return details;
}

/** @param {HTMLElement} place @param {Example} example */
function show(place, example) {
  const pictures = Object.entries(example.figures).map(([name, svg]) => h("figure", { class: "scroll" }, h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: `${example.title}: ${name}` })));
  fill(place, ...example.results.map(result), ...pictures);
}

/**
 * The numbers that the example begins with, as fields; a change computes everything anew.
 * @param {Example} example
 * @param {HTMLElement} results
 */
function sheet(example, results) {
  if (!example.inputs.length) return [];
  const said = h("p", { class: "bad", role: "status" });
  const fields = example.inputs.map((input) => input.value.map((row) => (Array.isArray(row) ? row.map((cell) => numberField(cell, input)) : [wordField(row, input)])));
  let latest = 0;
  const work = async () => {
    const mine = ++latest;
    /** @type {Record<string, (number[] | string)[]>} */
    const given = {};
    example.inputs.forEach((input, which) => {
      given[input.key] = input.value.map((row, place) => (Array.isArray(row) ? fields[which][place].map((field) => Number(field.value)) : fields[which][place][0].value));
    });
    try {
      said.textContent = "";
      const worked = /** @type {Example} */ (await ask(`examples/${example.key}`, { given }));
      if (mine === latest) show(results, worked);
    } catch (error) {
      if (mine === latest) said.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const reset = () => {
    example.inputs.forEach((input, which) => input.value.forEach((row, place) => fields[which][place].forEach((field, column) => (field.value = String(Array.isArray(row) ? row[column] : row)))));
    work();
  };
  fields.flat(2).forEach((field) => field.addEventListener("change", work));
  const tables = example.inputs.map((input, which) => h("div", { class: "scroll" }, h("table", { class: "sheet" }, h("caption", {}, input.name), header(input.columns, input.rows.length > 0), ...fields[which].map((row, place) => h("tr", {}, input.rows.length ? h("th", { scope: "row" }, input.rows[place] ?? "") : null, ...row.map((field) => h("td", {}, field)))))));
  return [h("section", { "aria-label": "Numbers that you may change" }, h("p", { class: "quiet" }, "Change any number, and all that follows is computed again."), h("div", { class: "controls sheets" }, ...tables), said, h("button", { type: "button", class: "small", onclick: reset }, "back to the notes' numbers"))];
}

/** @param {number} value @param {Input} input */
function numberField(value, input) {
  return /** @type {HTMLInputElement} */ (h("input", { type: "number", class: "given", value, min: input.least, max: input.most, step: input.whole ? 1 : "any", "aria-label": input.name }));
}

/** @param {string} value @param {Input} input */
function wordField(value, input) {
  return /** @type {HTMLInputElement} */ (h("input", { type: "text", class: "given words", size: 36, value, maxlength: 400, "aria-label": input.name }));
}

/** @param {string[]} columns @param {boolean} named */
function header(columns, named) {
  return columns.length ? h("tr", {}, named ? h("td", {}) : null, ...columns.map((name) => h("th", { scope: "col" }, name))) : null;
}

/** @param {Result} one */
function result(one) {
  const ours = value(one.computed, one);
  const differs = one.printed !== null && !one.agrees;
  return h(
    "section",
    { class: "result" },
    h("h3", {}, one.name),
    differs ? h("div", { class: "printed" }, h("div", {}, h("p", { class: "good" }, "computed"), ours), h("div", {}, h("p", { class: "bad" }, "the notes print"), value(one.printed, { ...one, digits: -1 }))) : ours,
    one.agrees ? h("p", { class: "good" }, "✓ as the notes print") : null,
    one.remark ? h("p", { class: "quiet" }, one.remark) : null,
  );
}

/** @param {any} found @param {Result} one */
function value(found, one) {
  if (!Array.isArray(found)) return h("p", { class: "value" }, typeof found === "number" ? short(found, 7) : String(found));
  const rows = Array.isArray(found[0]) ? found : [found];
  const cell = (/** @type {number | string} */ content) => h("td", {}, typeof content !== "number" ? content : one.digits < 0 ? String(content) : content.toFixed(Math.min(one.digits, 8)));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": one.name }, h("table", {}, header(one.columns, one.rows.length > 0), ...rows.map((row, place) => h("tr", {}, one.rows.length ? h("th", { scope: "row" }, one.rows[place] ?? "") : null, ...row.map(cell)))));
}
