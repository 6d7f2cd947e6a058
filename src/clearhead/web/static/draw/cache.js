// The cache of keys and values: one column a position, one row a layer, filled as the text is written.

import { h, s } from "../dom.js";
import { axisColour } from "./colour.js";

const LEFT = 62;
const MOST = 64;
const ROW = 14;
/** What the words above the cells need. */
const NAMED = 118;

/**
 * @param {{layers: number, filled: number, total: number, fresh: number}} own what the decoder has of its own text
 * @param {number} source how many positions of a source are kept for cross-attention; 0 where there is none
 * @returns {HTMLElement}
 */
export function cache(own, source) {
  const cell = matchMedia("(max-width: 900px)").matches ? 10 : 14;
  const rows = Math.min(own.layers, 8);
  const columns = Math.min(own.total, MOST);
  const extra = source ? Math.min(source, MOST) + 1 : 0;
  const wide = LEFT + (columns + Math.max(extra, source ? Math.ceil(NAMED / cell) : 0)) * cell + 4;
  const high = rows * ROW + 18;
  const svg = s("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `The cache holds keys and values of ${own.filled} positions in ${own.layers} layers${source ? `, and of ${source} source positions, computed once` : ""}` });
  for (let row = 0; row < rows; row++) {
    const y = 16 + row * ROW;
    svg.append(s("text", { x: 0, y: y + 10, class: "cache-text" }, `layer ${row}`));
    for (let column = 0; column < columns; column++) {
      const kind = column >= own.filled ? "cache-empty" : column >= own.filled - own.fresh ? "cache-fresh" : "cache-full";
      svg.append(s("rect", { x: LEFT + column * cell, y, width: cell - 2, height: ROW - 2, rx: 2, class: kind }));
    }
    for (let column = 0; column < extra - 1; column++) svg.append(s("rect", { x: LEFT + (columns + 1 + column) * cell, y, width: cell - 2, height: ROW - 2, rx: 2, fill: axisColour("S"), opacity: 0.55 }));
  }
  svg.append(s("text", { x: LEFT, y: 10, class: "cache-text" }, "own keys and values"));
  if (extra && columns * cell > NAMED) svg.append(s("text", { x: LEFT + (columns + 1) * cell, y: 10, class: "cache-text" }, "the source's, once"));
  return h("div", { class: "scroll cache", tabindex: 0, role: "region", "aria-label": "The cache" }, svg);
}
