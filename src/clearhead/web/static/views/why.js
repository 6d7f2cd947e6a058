// Why? One number with what it is made of; every term opens in turn, back to the embedding and the weights.

import { writeAddress } from "../address.js";
import { ask } from "../api.js";
import { byId, fill, h, short } from "../dom.js";
import { balance, expression, stations } from "../draw/arithmetic.js";
import { numberInWords } from "../draw/words.js";
import { state } from "../state.js";

/** @typedef {import("../draw/arithmetic.js").Term} Term */
/** @typedef {import("../draw/arithmetic.js").Opened} Opened */
/** @typedef {{site: string, index: Record<string, number | string>, by?: string, path?: number[]}} Question */

/** @typedef {{question: Question, name: string, value: number}} Step */

/** @type {Step[]} */
let trail = [];
/** Everything that was asked of the present run, for those who want to keep it. @type {Question[]} */
let walked = [];
let walkedRun = "";
/** The run that was asked, where it is not the one above. @type {string} */
let asking = "";
/** Counts the questions: an answer that comes after the next one, or after the pane was closed, is not shown. */
let latest = 0;
/** @type {HTMLElement | null} */
let opener = null;

/** What was asked of the present run so far. */
export function walk() {
  return state.run?.run === walkedRun ? walked : [];
}

export function closeWhy() {
  latest++;
  trail = [];
  asking = "";
  state.question = "";
  byId("why").hidden = true;
  fill(byId("why"));
  writeAddress();
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  opener = null;
}

/**
 * Asks why a number is what it is, as a new question.
 * @param {string} site
 * @param {Record<string, number | string>} index
 * @param {{by?: string, run?: string}} [options] run: the one that was drawn where it was asked
 */
export async function why(site, index, options = {}) {
  const of = options.run && options.run !== state.run?.run ? options.run : "";
  const active = document.activeElement;
  if (active instanceof HTMLElement && !byId("why").contains(active)) opener = active;
  await go({ site, index, by: options.by, path: [] }, { from: [], of });
}

/**
 * Opens the question that an address holds: site|letter=place,…|by.
 * @param {string} said
 */
async function reopen(said) {
  const [site, places, by] = said.split("|");
  const pairs = (places ?? "").split(",").filter(Boolean).map((pair) => pair.split("="));
  await go({ site, index: Object.fromEntries(pairs.map(([letter, place]) => [letter, Number(place)])), by: by || undefined, path: [] }, { from: [], of: "", aside: true });
}

/** Asks the open question again, of the run that is shown now; where that has no such number the pane is closed. */
export async function refresh() {
  if (!state.question) return;
  const mine = latest + 1;
  await reopen(state.question).catch(() => mine === latest && closeWhy());
}

/** @param {Question} question */
function spelt(question) {
  const places = Object.entries(question.index).map(([letter, place]) => `${letter}=${place}`);
  return `${question.site}|${places.join(",")}${question.by ? `|${question.by}` : ""}`;
}

/**
 * @param {Question} question
 * @param {{from?: Step[], of?: string, aside?: boolean}} [options] from: how one came here; of: another run than the one above; aside: leave the keyboard where it is
 * @returns {Promise<void>}
 */
async function go(question, { from = trail, of = asking, aside = false } = {}) {
  const mine = ++latest;
  const { view } = state;
  const run = of || state.run?.run;
  if (!run) return;
  const node = /** @type {Opened} */ (await ask(`runs/${run}/why`, question));
  const line = node.line ? await code(node.line) : null;
  if (mine !== latest) return;
  if (!of && state.run?.run !== run) return go(question, { from, of, aside });
  asking = of;
  trail = [...from, { question, name: node.name, value: node.value }];
  if (walkedRun !== run) walked = [];
  walkedRun = run;
  walked = [...walked, question].slice(-40);
  state.question = asking ? "" : spelt(question);
  writeAddress();
  draw(question, node, line, aside || state.view !== view);
}

/** @param {number} place */
async function back(place) {
  await go(trail[place].question, { from: trail.slice(0, place) });
}

/** @param {Question} question @param {Opened} node @param {HTMLElement | null} line @param {boolean} aside */
function draw(question, node, line, aside) {
  const pane = byId("why");
  const given = node.operation === "given";
  const near = Math.abs(node.recomputed - node.value) <= 1e-5 * Math.max(1, Math.abs(node.value));
  const logit = question.site === "logits" && !question.path?.length;
  const greatest = Math.max(...node.children.map((child) => Math.abs(child.value)), 1e-12);
  const listed = node.operation === "sum" && node.children.length > 2;
  const pick = (/** @type {Term} */ term, /** @type {number[]} */ path) => open(question, term, path);
  const title = h("h2", { tabindex: -1 }, "Why?");
  const words = asking || !state.run || question.path?.length ? "" : numberInWords(state.run, question.site, question.index, node.value);
  pane.hidden = false;
  fill(
    pane,
    h("div", { class: "why-head" }, title, h("button", { type: "button", class: "small", onclick: closeWhy, "aria-label": "Close" }, "✕")),
    stations(node.address?.name ?? question.site),
    trail.length > 1 ? h("ol", { class: "crumbs", "aria-label": "How you came here" }, ...trail.slice(0, -1).map((step, place) => h("li", {}, h("button", { type: "button", class: "small", title: step.name, onclick: () => back(place) }, h("b", {}, short(step.value, 3)), ` ${brief(step.name)}`), " ›"))) : null,
    h("p", { class: "why-name" }, node.name),
    h("p", { class: "big", "aria-live": "polite" }, short(node.value, 7)),
    words ? h("p", { class: "in-words" }, words) : null,
    given ? h("p", { class: "formula" }, node.formula || "A weight, or what was given: it is made of nothing else.") : !listed && !node.formula ? null : h("p", { class: "formula" }, listed ? `= ${node.sign} terms ` : "= ", h("span", { class: listed ? "quiet" : "" }, node.formula)),
    given || listed ? null : expression(node, pick, brief),
    listed ? balance(node) : null,
    given ? null : h("p", { class: near ? "good" : "bad" }, near ? `recomputed from its terms: ${short(node.recomputed, 7)} ✓` : `recomputed: ${short(node.recomputed, 7)}, which differs`),
    logit ? h("div", { class: "segments", role: "group", "aria-label": "How to open it" }, ...[["operation", "term by term"], ["block", "what every block wrote"]].map(([by, name]) => h("button", { type: "button", "aria-pressed": String((question.by ?? "operation") === by), onclick: () => swap({ ...question, by }) }, name))) : null,
    listed ? h("ol", { class: "terms" }, ...node.children.map((child, place) => h("li", { class: "term" }, ...row(child, place, greatest, pick)))) : null,
    node.rest.count ? h("p", { class: "quiet" }, `${node.rest.count} smaller terms together: ${short(node.rest.sum, 6)}`) : null,
    line,
  );
  pane.scrollTop = 0;
  if (!aside) title.focus({ preventScroll: true });
}

/** The same number, opened another way. @param {Question} question */
async function swap(question) {
  await go(question, { from: trail.slice(0, -1) });
}

/**
 * One term of a sum: its value, how much it weighs, and its factors, each of which opens.
 * @param {Term} child
 * @param {number} place
 * @param {number} greatest
 * @param {(term: Term, path: number[]) => void} pick
 */
function row(child, place, greatest, pick) {
  const weight = h("span", { class: child.value < 0 ? "weight minus" : "weight" });
  weight.style.width = `${(100 * Math.abs(child.value)) / greatest}%`;
  const value = h("span", { class: "value" }, short(child.value, 5));
  const track = h("span", { class: "track" }, weight);
  if (child.factors) {
    const factors = child.factors.flatMap((factor, which) => [which ? h("span", { "aria-hidden": "true" }, "×") : null, operand(factor, [place, which], pick)]);
    return [value, track, h("span", { class: "factors" }, ...factors)];
  }
  return [value, track, h("span", { class: "factors" }, operand(child, [place], pick, false))];
}

/**
 * A number that goes into another: a button where it opens.
 * @param {Term} term
 * @param {number[]} path
 * @param {(term: Term, path: number[]) => void} pick
 * @param {boolean} [valued]
 */
function operand(term, path, pick, valued = true) {
  const inside = [valued ? h("b", {}, short(term.value, 4)) : null, ` ${tight(term.name)}`];
  if (!term.opens) return h("span", { class: "operand", title: term.name }, ...inside);
  return h("button", { type: "button", class: "operand", title: term.name, onclick: () => pick(term, path) }, ...inside);
}

/** @param {Question} question @param {Term} term @param {number[]} path */
async function open(question, term, path) {
  const address = term.address;
  if (address?.axes) {
    /** @type {Record<string, number>} */
    const index = {};
    [...address.axes].forEach((letter, axis) => (index[letter] = address.index[axis]));
    await go({ site: address.name, index });
  } else {
    await go({ ...question, path: [...(question.path ?? []), ...path] });
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
  const near = rows.slice(first, line.line + 3);
  const indent = Math.min(...near.filter((text) => text.trim()).map((text) => text.length - text.trimStart().length));
  const shown = near.map((text, place) => {
    const row = `${String(first + place + 1).padStart(3)}  ${text.slice(indent)}`;
    return h(first + place + 1 === line.line ? "mark" : "span", { class: "row" }, row);
  });
  return h("section", {}, h("h3", {}, "The line that computed it"), h("p", { class: "quiet" }, `clearhead/${line.file}:${line.line}`), h("pre", { tabindex: 0, "aria-label": "Source" }, ...shown));
}

/**
 * A name in few letters: the last parts of a site, and where in it.
 * @param {string} name
 */
function brief(name) {
  const found = /^([\w.]+)\[([^\]]*)\](.*)$/.exec(name);
  if (!found) return name.length > 40 ? `${name.slice(0, 39)}…` : name;
  const parts = found[1].split(".");
  const rest = found[3].trim();
  return `${parts.slice(-2).join(".")}[${found[2]}]${rest && rest.length < 24 ? ` ${rest}` : ""}`;
}

/**
 * A name in fewer letters still, for a row among many like it: the last part, and the last place.
 * @param {string} name
 */
function tight(name) {
  const found = /^([\w.]+)\[([^\]]*)\]/.exec(name);
  if (!found) return brief(name);
  const places = found[2].split(", ");
  return found[2].includes("=") ? `${found[1].split(".").pop()} ${places[places.length - 1]}` : `${found[1].split(".").slice(-2).join(".")}[${found[2]}]`;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("why").hidden) closeWhy();
});
