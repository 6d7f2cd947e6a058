// Shapes with the letters and colours of the legend.

import { h } from "../dom.js";
import { state } from "../state.js";
import { axisColour } from "./colour.js";

/**
 * @param {string} axes
 * @param {(number | string)[]} sizes
 * @returns {HTMLElement}
 */
export function shape(axes, sizes) {
  const parts = [...axes].map((letter, place) => {
    const name = state.axes.find((axis) => axis.letter === letter)?.name ?? letter;
    const part = h("span", { title: `${letter}: ${name}` }, `${letter} ${sizes[place]}`);
    part.style.borderColor = axisColour(letter);
    return part;
  });
  return h("span", { class: "shape" }, ...parts);
}

/** What the letters mean. */
export function legend() {
  return h("dl", { class: "legend" }, ...state.axes.map((axis) => {
    const letter = h("dt", {}, axis.letter);
    letter.style.borderColor = axis.colour;
    return h("div", {}, letter, h("dd", {}, axis.name));
  }));
}
