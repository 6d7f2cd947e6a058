// Colours of numbers: the ramp that the server's pictures use, and one with two sides for numbers with signs.

import { state } from "../state.js";

/** @param {number} share from 0 to 1 */
export function shade(share) {
  const ramp = state.ramp;
  const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  return ramp[Math.round(place)] ?? "#888888";
}

/**
 * Orange below nothing, blue above it, paper at it.
 * @param {number} share from -1 to 1
 */
export function signed(share) {
  const size = Math.min(Math.abs(share), 1) ** 0.7;
  const [r, g, b] = share < 0 ? [213, 94, 0] : [0, 114, 178];
  const mix = (/** @type {number} */ channel) => Math.round(250 + (channel - 250) * size);
  return `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

/**
 * What colours a table of numbers: one-sided where none is negative.
 * @param {Float32Array} data
 * @returns {{colour: (value: number) => string, low: number, high: number}}
 */
export function scaleOf(data) {
  let low = 0;
  let high = 0;
  for (const value of data) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const size = Math.max(-low, high) || 1;
  if (low < 0) return { colour: (value) => (Number.isNaN(value) ? "#888888" : signed(value / size)), low, high };
  return { colour: (value) => (Number.isNaN(value) ? "#888888" : shade(value / size)), low, high };
}

/** @param {string} letter */
export function axisColour(letter) {
  return state.axes.find((axis) => axis.letter === letter)?.colour ?? "#888888";
}
