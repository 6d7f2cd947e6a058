// Lines from the end of the encoder to every part of the decoder that looks at it.

import { s } from "../dom.js";
import { axisColour } from "./colour.js";

/**
 * Draws the lines over two stacks that stand side by side, and again whenever their place changes.
 * @param {HTMLElement} stacks
 */
export function connect(stacks) {
  const from = stacks.querySelector(".source-end");
  const parts = [...stacks.querySelectorAll(".part.cross")];
  if (!from || !parts.length) return;
  const svg = s("svg", { class: "connections", "aria-hidden": "true" });
  stacks.append(svg);
  const draw = () => {
    const whole = stacks.getBoundingClientRect();
    const start = from.getBoundingClientRect();
    const beside = parts[0].getBoundingClientRect().left > start.right;
    svg.replaceChildren();
    if (!beside) return;
    svg.setAttribute("width", String(whole.width));
    svg.setAttribute("height", String(whole.height));
    const x = start.right - whole.left + 8;
    const y = start.top + start.height / 2 - whole.top;
    for (const part of parts) {
      const box = part.getBoundingClientRect();
      const to = { x: box.left - whole.left, y: box.top + box.height / 2 - whole.top };
      const path = `M${x - 8},${y} H${x + 2} Q${x + 8},${y} ${x + 8},${y - 6} V${to.y + 6} Q${x + 8},${to.y} ${x + 14},${to.y} H${to.x - 4}`;
      svg.append(s("path", { d: path, fill: "none", stroke: axisColour("S"), "stroke-width": 2, opacity: 0.75 }), s("path", { d: `M${to.x - 7},${to.y - 4} L${to.x},${to.y} L${to.x - 7},${to.y + 4} Z`, fill: axisColour("S") }));
    }
  };
  new ResizeObserver(draw).observe(stacks);
}
