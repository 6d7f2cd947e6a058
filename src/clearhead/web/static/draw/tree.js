// The beam tree: every way that the search followed, also those that died; what ended soon stands above what went on, so that a step goes down by a few rows only.

import { h, s } from "../dom.js";

/** @typedef {import("../api.js").Beam} Beam */

const ROW = 24;
const COLUMN = 92;
const INKS = /** @type {Record<string, [string, string]>} */ ({ best: ["#2d5f9b", "#ffffff"], finished: ["#00694d", "#ffffff"], running: ["#dcdce8", "#1c1c28"], dropped: ["#ffffff", "#5b5b6b"] });

/**
 * @param {Beam[][]} steps
 * @param {number[]} best the ids of the text that won
 * @returns {HTMLElement}
 */
export function tree(steps, best) {
  /** @type {{beam: Beam, parent: number, depth: number, fate: string, row: number, children: number[]}[]} */
  const nodes = [];
  /** @type {Map<number, {node: number, ids: number[]}>} */
  let running = new Map([[0, { node: -1, ids: [] }]]);
  steps.forEach((step, depth) => {
    /** @type {Map<number, {node: number, ids: number[]}>} */
    const after = new Map();
    let dropped = 0;
    for (const beam of step) {
      const parent = running.get(beam.parent);
      if (!parent) continue;
      const ids = [...parent.ids, beam.id];
      if (beam.fate === "dropped" && ++dropped > 2) continue;
      const wins = beam.fate !== "dropped" && ids.every((id, place) => id === best[place]);
      nodes.push({ beam, parent: parent.node, depth, fate: wins ? "best" : beam.fate, row: 0, children: [] });
      if (parent.node >= 0) nodes[parent.node].children.push(nodes.length - 1);
      if (beam.place !== null) after.set(beam.place, { node: nodes.length - 1, ids });
    }
    running = after;
  });
  let leaf = 0;
  /** @type {(index: number) => number} */
  const leaves = (index) => nodes[index].children.reduce((sum, child) => sum + leaves(child), nodes[index].children.length ? 0 : 1);
  const smallFirst = (/** @type {number[]} */ some) => [...some].sort((one, other) => leaves(one) - leaves(other));
  const place = (/** @type {number} */ index) => {
    const node = nodes[index];
    const children = smallFirst(node.children);
    children.forEach(place);
    node.row = children.length ? nodes[children[0]].row : leaf++;
  };
  smallFirst(nodes.flatMap((node, index) => (node.parent < 0 ? [index] : []))).forEach(place);
  const wide = (steps.length + 1) * COLUMN;
  const high = Math.max(1, leaf) * ROW + 8;
  const svg = s("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `beam tree: ${nodes.length} candidates` });
  svg.style.width = `clamp(${Math.round(0.9 * wide)}px, 100%, ${wide}px)`;
  for (const node of nodes) {
    const x = node.depth * COLUMN + 4;
    const y = node.row * ROW + 4;
    if (node.parent >= 0) {
      const before = nodes[node.parent];
      svg.append(s("line", { x1: before.depth * COLUMN + COLUMN - 12, y1: before.row * ROW + 14, x2: x, y2: y + 10, stroke: "currentColor", "stroke-opacity": 0.3 }));
    }
    const [fill, ink] = INKS[node.fate];
    const box = s("rect", { x, y, width: COLUMN - 16, height: ROW - 4, rx: 4, fill, stroke: "#8888a0" }, s("title", {}, `${node.beam.shown}: ${node.beam.score.toFixed(3)}, ${node.fate}`));
    const word = node.beam.shown.length > 10 ? `${node.beam.shown.slice(0, 9)}…` : node.beam.shown;
    svg.append(box, s("text", { x: x + 5, y: y + 14, fill: ink }, word));
  }
  return h("div", { class: "tree", tabindex: 0, role: "region", "aria-label": "The beam tree" }, svg, h("p", { class: "quiet" }, "Blue: the text. Green: finished, and not the best. Grey: went on. White: given up."));
}
