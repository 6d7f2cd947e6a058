// Curves over steps or layers, one line a name.

import { h, s, short } from "../dom.js";

const INKS = ["#2d7dd2", "#d55e00", "#009e73", "#cc79a7"];
const HIGH = 190;
const LEFT = 44;
/** As wide as it is shown, so that what is written in it is as large as elsewhere. */
const width = () => (matchMedia("(max-width: 700px)").matches ? 330 : 560);

/** @typedef {{name: string, points: [number, number][]}} Line */

/**
 * @param {Line[]} lines
 * @param {{name: string, ticks?: string[], low?: number, high?: number, dots?: boolean}} options ticks: what stands below each whole x
 * @returns {HTMLElement}
 */
export function curve(lines, options) {
  const wide = width();
  const points = lines.flatMap((line) => line.points);
  const low = options.low ?? Math.min(0, ...points.map(([, y]) => y));
  const high = options.high ?? Math.max(...points.map(([, y]) => y), low + 1e-9);
  const first = Math.min(...points.map(([x]) => x));
  const last = Math.max(...points.map(([x]) => x), first + 1);
  const across = (/** @type {number} */ x) => LEFT + 14 + ((wide - LEFT - 48) * (x - first)) / (last - first);
  const down = (/** @type {number} */ y) => 22 + ((HIGH - 52) * (high - y)) / (high - low);
  const said = lines.map((line) => `${line.name}: ${line.points.map(([, y]) => short(y, 3)).slice(-12).join(", ")}`).join("; ");
  const svg = s("svg", { viewBox: `0 0 ${wide} ${HIGH}`, class: "curve", role: "img", "aria-label": `${options.name}. ${said}` });
  for (const y of [low, (low + high) / 2, high]) svg.append(s("line", { class: "axis", x1: LEFT, x2: wide - 8, y1: down(y), y2: down(y) }), s("text", { x: 2, y: down(y) + 4 }, short(y, 3)));
  const close = (options.ticks?.length ?? 0) * 64 > wide;
  const ticks = (options.ticks ?? []).map((tick) => (close ? (tick.split(" ").pop() ?? "") : tick));
  ticks.forEach((tick, place) => svg.append(s("text", { x: across(place), y: HIGH - 8, "text-anchor": "middle" }, tick)));
  if (!ticks.length) svg.append(s("text", { x: across(first), y: HIGH - 8 }, String(first)), s("text", { x: across(last), y: HIGH - 8, "text-anchor": "end" }, String(last)));
  lines.forEach((line, which) => {
    const ink = INKS[which % INKS.length];
    svg.append(s("polyline", { points: line.points.map(([x, y]) => `${across(x)},${down(y)}`).join(" "), fill: "none", stroke: ink, "stroke-width": 2 }));
    if (options.dots) for (const [x, y] of line.points) svg.append(s("circle", { cx: across(x), cy: down(y), r: 4, fill: ink }), s("text", { x: across(x), y: down(y) - 8, "text-anchor": "middle" }, short(y, 3)));
  });
  const keys = lines.length > 1 ? h("p", { class: "controls" }, ...lines.map((line, which) => key(line.name, INKS[which % INKS.length]))) : null;
  return h("div", {}, svg, keys);
}

/** @param {string} name @param {string} ink */
function key(name, ink) {
  const patch = h("span", { class: "ink" });
  patch.style.background = ink;
  return h("span", { class: "line" }, patch, name);
}
