// Why? One number with what it is made of; every term opens in turn, back to the embedding and the weights.

import { ask } from "../api.js";
import { byId, fill, h, short } from "../dom.js";
import { state } from "../state.js";

/**
 * @typedef {object} Term
 * @property {string} name
 * @property {number} value
 * @property {string} operation
 * @property {string} formula
 * @property {string} [sign]
 * @property {boolean} opens
 * @property {{name: string, index: number[], axes: string} | null} address
 * @property {import("../api.js").Line | null} line
 * @property {Term[]} [factors]
 */
/** @typedef {Term & {recomputed: number, children: Term[], rest: {count: number, sum: number}}} Opened */
/** @typedef {{site: string, index: Record<string, number | string>, by?: string, path?: number[]}} Question */

/** @type {{question: Question, name: string}[]} */
let trail = [];
/** Everything that was asked of the present run, for those who want to keep it. @type {Question[]} */
let walked = [];
let walkedRun = "";

/** What was asked of the present run so far. */
export function walk() {
  return state.run?.run === walkedRun ? walked : [];
}

export function closeWhy() {
  trail = [];
  byId("why").hidden = true;
  fill(byId("why"));
}

/**
 * Asks why a number is what it is, as a new question.
 * @param {string} site
 * @param {Record<string, number | string>} index
 * @param {string} [by]
 */
export async function why(site, index, by) {
  trail = [];
  await go({ site, index, by, path: [] });
}

/** @param {Question} question */
async function go(question) {
  const run = state.run;
  if (!run) return;
  const node = /** @type {Opened} */ (await ask(`runs/${run.run}/why`, question));
  trail.push({ question, name: node.name });
  if (walkedRun !== run.run) walked = [];
  walkedRun = run.run;
  walked = [...walked, question].slice(-40);
  await draw(question, node);
}

/** @param {number} place */
async function back(place) {
  const { question } = trail[place];
  trail = trail.slice(0, place);
  await go(question);
}

/** @param {Question} question @param {Opened} node */
async function draw(question, node) {
  const pane = byId("why");
  const crumbs = trail.slice(0, -1).map((step, place) => h("li", {}, h("button", { type: "button", onclick: () => back(place) }, brief(step.name)), " ›"));
  const greatest = Math.max(...node.children.map((child) => Math.abs(child.value)), 1e-12);
  const near = Math.abs(node.recomputed - node.value) <= 1e-5 * Math.max(1, Math.abs(node.value));
  const logit = question.site === "logits" && !question.path?.length && question.by !== "block";
  pane.hidden = false;
  fill(
    pane,
    h("div", { class: "controls" }, h("h2", {}, "Why?"), h("button", { type: "button", onclick: closeWhy, "aria-label": "Close" }, "✕")),
    h("ol", { class: "crumbs" }, ...crumbs),
    h("p", { class: "quiet" }, node.name),
    h("p", { class: "big" }, short(node.value, 7)),
    node.operation === "given" ? h("p", { class: "formula" }, node.formula || "A weight, or what was given: it is made of nothing else.") : null,
    node.operation === "given" ? null : h("p", { class: "formula" }, `= ${node.sign ?? node.operation}`, node.formula ? `: ${node.formula}` : ""),
    node.operation === "given" ? null : h("p", { class: near ? "good" : "bad" }, near ? `recomputed from its terms: ${short(node.recomputed, 7)} ✓` : `recomputed: ${short(node.recomputed, 7)}, which differs`),
    logit ? h("button", { type: "button", onclick: () => go({ ...question, by: "block" }) }, "as the sum of what every block wrote") : null,
    h("div", {}, ...node.children.map((child, place) => term(question, child, place, greatest))),
    node.rest.count ? h("p", { class: "quiet" }, `${node.rest.count} smaller terms together: ${short(node.rest.sum, 6)}`) : null,
    node.line ? await code(node.line) : null,
  );
  pane.scrollTop = 0;
}

/** @param {Question} question @param {Term} child @param {number} place @param {number} greatest */
function term(question, child, place, greatest) {
  const weight = h("span", { class: child.value < 0 ? "weight minus" : "weight" });
  weight.style.width = `${(100 * Math.abs(child.value)) / greatest}%`;
  const factors = child.factors?.map((factor) => `${short(factor.value, 4)} (${brief(factor.name)})`).join(" × ");
  return h(
    "button",
    { class: "term", type: "button", disabled: !child.opens, onclick: () => open(question, child, place), title: child.name },
    h("span", { class: "value" }, short(child.value, 5)),
    h("span", { class: "name" }, brief(child.name)),
    factors ? h("span", { class: "factors" }, `= ${factors}`) : null,
    weight,
  );
}

/** @param {Question} question @param {Term} child @param {number} place */
async function open(question, child, place) {
  const address = child.address;
  if (address?.axes) {
    /** @type {Record<string, number>} */
    const index = {};
    [...address.axes].forEach((letter, axis) => (index[letter] = address.index[axis]));
    await go({ site: address.name, index });
  } else {
    await go({ ...question, path: [...(question.path ?? []), place] });
  }
}

/** @type {Map<string, string[]>} */
const files = new Map();

/** @param {import("../api.js").Line} line */
async function code(line) {
  let rows = files.get(line.file);
  if (!rows) {
    rows = /** @type {string[]} */ ((await ask(`source?file=${encodeURIComponent(line.file)}`)).code.split("\n"));
    files.set(line.file, rows);
  }
  const first = Math.max(0, line.line - 6);
  const shown = rows.slice(first, line.line + 3).map((text, place) => {
    const row = `${String(first + place + 1).padStart(3)}  ${text}`;
    return first + place + 1 === line.line ? h("mark", {}, row) : `${row}\n`;
  });
  return h("section", {}, h("h3", {}, "The line that computed it"), h("p", { class: "quiet" }, `clearhead/${line.file}:${line.line}`), h("pre", { tabindex: 0 }, ...shown));
}

/** @param {string} name */
function brief(name) {
  return name.length > 64 ? `${name.slice(0, 63)}…` : name;
}
