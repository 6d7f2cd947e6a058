// One operation with its numbers in it, as one would write it; and where in the model it happened.

import { h, s, short } from "../dom.js";
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
/** @typedef {Term & {sign: string, recomputed: number, children: Term[], rest: {count: number, sum: number}, plus: number, minus: number}} Opened */
/** @typedef {(term: Term, path: number[]) => void} Pick */

const BETWEEN = /** @type {Record<string, string>} */ ({ sum: "+", product: "×", power: "^" });
const MOST = 6;

/**
 * The operation with its operands: a fraction, a product, a function; each operand opens.
 * @param {Opened} node
 * @param {Pick} pick
 * @param {(name: string) => string} brief
 */
export function expression(node, pick, brief) {
  const parts = node.children.slice(0, MOST).map((child, place) => operand(child, place, pick, brief));
  const more = node.children.length > MOST || node.rest.count ? [h("span", {}, ` … ${node.children.length - parts.length + node.rest.count} more`)] : [];
  /** @type {(Node | string)[]} */
  let inside;
  if (node.operation === "quotient") inside = [h("span", { class: "fraction" }, parts[0], h("span", { class: "over" }, parts[1]))];
  else if (node.operation in BETWEEN) inside = [...parts.flatMap((part, place) => (place ? [h("span", { class: "sign" }, BETWEEN[node.operation]), part] : [part])), ...more];
  else if (node.operation === "same") inside = parts;
  else inside = [h("span", { class: "sign" }, `${node.operation === "negative" ? "−" : node.operation} (`), ...parts.flatMap((part, place) => (place ? [", ", part] : [part])), ...more, h("span", { class: "sign" }, ")")];
  return h("div", { class: "expression", role: "group", "aria-label": "The formula with its numbers" }, h("span", { class: "sign" }, `${short(node.value, 5)} =`), ...inside);
}

/** @param {Term} term @param {number} place @param {Pick} pick @param {(name: string) => string} brief */
function operand(term, place, pick, brief) {
  const inside = [h("b", {}, short(term.value, 5)), h("small", {}, brief(term.name))];
  if (!term.opens) return h("span", { class: "box", title: term.name }, ...inside);
  return h("button", { type: "button", class: "box", title: term.name, onclick: () => pick(term, [place]) }, ...inside);
}

/**
 * What the terms above nothing give, what those below take away, and what is left.
 * @param {Opened} node
 */
export function balance(node) {
  const wide = 380;
  const most = Math.max(node.plus, -node.minus, 1e-12);
  const x = (/** @type {number} */ value) => (wide * value) / most;
  const zero = Math.max(0, x(-node.minus - node.plus));
  const bar = (/** @type {number} */ from, /** @type {number} */ size, /** @type {number} */ y, /** @type {string} */ kind) => s("rect", { x: from, y, width: Math.max(1, size), height: 12, rx: 2, class: kind });
  const svg = s(
    "svg",
    { viewBox: `0 0 ${wide} 32`, width: "100%", role: "img", "aria-label": `terms above nothing sum to ${short(node.plus, 4)}, those below to ${short(node.minus, 4)}` },
    bar(zero, x(node.plus), 1, "plus"),
    bar(Math.max(0, zero + x(node.plus) + x(node.minus)), x(-node.minus), 18, "minus"),
  );
  const parts = [h("span", { class: "plus-text" }, `+ ${short(node.plus, 4)}`), " above nothing, ", h("span", { class: "minus-text" }, `− ${short(-node.minus, 4)}`), " below it, ", h("b", {}, short(node.value, 5)), " is left"];
  return h("div", { class: "balance" }, svg, h("p", { class: "quiet" }, ...parts));
}

/**
 * Where in the model a site is: a small map, with this place lit.
 * @param {string} site
 */
export function stations(site) {
  const model = state.model;
  if (!model) return null;
  const [stack, layer] = site.split(".");
  const rows = Object.entries(model.stacks).map(([name, config]) => {
    const stops = ["embed", ...Array.from({ length: config.layers }, (_, place) => String(place))];
    const mine = stack === name || (stack === "embed" && Object.keys(model.stacks).length === 1);
    const at = !mine ? "" : stack === "embed" || layer === "embed" || layer === "embedding" ? "embed" : layer === "blocks" ? site.split(".")[2] : layer;
    return h("span", { class: "stations-row" }, h("small", {}, name), ...stops.map((stop) => h("i", { class: stop === at ? "stop lit" : "stop", title: stop }, stop === "embed" ? "▦" : stop)));
  });
  const head = h("span", { class: "stations-row" }, h("i", { class: stack === "logits" ? "stop lit" : "stop" }, "logits"));
  return h("div", { class: "stations", role: "img", "aria-label": `in ${site}` }, ...rows, head);
}
