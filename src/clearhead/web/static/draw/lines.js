// A pattern as lines between words: hover or focus one to see who looks at it, and whom it looks at.

import { h, s, short } from "../dom.js";

const ROW = 24;
const GAP = 200;
const FAINT = 0.03;
const WIDEST = 150;

/**
 * @param {Float32Array} data
 * @param {string[]} queries
 * @param {string[]} keys
 * @returns {HTMLElement}
 */
export function lines(data, queries, keys) {
  const longest = (/** @type {string[]} */ words) => Math.min(WIDEST, Math.max(...words.map((word) => word.length)) * 9 + 12);
  const left = longest(queries);
  const wide = left + GAP + longest(keys);
  const high = Math.max(queries.length, keys.length) * ROW + 10;
  const svg = s("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": "Lines from each query on the left to the keys that it looks at on the right" });
  /** @type {{query: number, key: number, share: number, element: SVGElement}[]} */
  const edges = [];
  for (let query = 0; query < queries.length; query++) {
    for (let key = 0; key < keys.length; key++) {
      const share = data[query * keys.length + key];
      if (!(share > FAINT)) continue;
      const element = s("path", { class: "edge", d: `M${left},${y(query)} C${left + GAP / 2},${y(query)} ${left + GAP / 2},${y(key)} ${left + GAP},${y(key)}`, "stroke-width": 0.5 + 4 * share, "stroke-opacity": Math.max(0.08, share) });
      edges.push({ query, key, share, element });
      svg.append(element);
    }
  }
  const said = h("p", { class: "readout", "aria-live": "polite" }, "Point at a word, or reach it with Tab.");

  /** @param {number} row */
  function y(row) {
    return row * ROW + ROW / 2 + 4;
  }

  /** @param {"query" | "key"} side @param {number} place */
  function focus(side, place) {
    const mine = edges.filter((edge) => edge[side] === place).sort((a, b) => b.share - a.share);
    for (const edge of edges) edge.element.setAttribute("stroke-opacity", String(edge[side] === place ? Math.max(0.25, edge.share) : 0.02));
    const other = side === "query" ? "key" : "query";
    const words = side === "query" ? keys : queries;
    const listed = mine.slice(0, 6).map((edge) => `${words[edge[other]]} ${short(edge.share, 3)}`).join(", ");
    const word = (side === "query" ? queries : keys)[place];
    said.textContent = side === "query" ? `${word} looks at ${listed || "nothing much"}` : `${word} is looked at by ${listed || "nobody much"}`;
  }

  function rest() {
    for (const edge of edges) edge.element.setAttribute("stroke-opacity", String(Math.max(0.08, edge.share)));
  }

  /** @param {"query" | "key"} side @param {string} word @param {number} place */
  function label(side, word, place) {
    const shown = word.length > 15 ? `${word.slice(0, 14)}…` : word;
    const text = s("text", {
      x: side === "query" ? left - 6 : left + GAP + 6,
      y: y(place) + 4,
      "text-anchor": side === "query" ? "end" : "start",
      tabindex: 0,
      role: "button",
      "aria-label": `${word}, ${side === "query" ? "looks at" : "is looked at"}`,
      onmouseenter: () => focus(side, place),
      onfocus: () => focus(side, place),
      onmouseleave: rest,
      onblur: rest,
    }, shown);
    svg.append(text);
  }

  queries.forEach((word, place) => label("query", word, place));
  keys.forEach((word, place) => label("key", word, place));
  return h("div", { class: "lines" }, said, h("div", { class: "scroll" }, svg));
}
