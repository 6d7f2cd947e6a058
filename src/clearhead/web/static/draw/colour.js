// Colours of numbers: the ramp that the server's pictures use, and one with two sides for numbers with signs.

import { state } from "../state.js";

const STEPS = 255;
const NONE = [136, 136, 136];

/** @type {number[][]} */
let ramp = [];
/** @type {number[][]} */
const sides = Array.from({ length: 2 * STEPS + 1 }, (_, place) => signed((place - STEPS) / STEPS));

/**
 * Orange below nothing, blue above it, paper at it.
 * @param {number} share from -1 to 1
 */
function signed(share) {
  const size = Math.min(Math.abs(share), 1) ** 0.7;
  const full = share < 0 ? [213, 94, 0] : [0, 114, 178];
  return full.map((channel) => Math.round(250 + (channel - 250) * size));
}

function oneSided() {
  if (!ramp.length) ramp = state.ramp.map((hex) => [1, 3, 5].map((place) => Number.parseInt(hex.slice(place, place + 2), 16)));
  return ramp;
}

/** @typedef {{low: number, high: number, rgb: (value: number) => number[]}} Scale */

/**
 * What colours a table of numbers: one-sided where none is negative.
 * @param {Float32Array} data
 * @returns {Scale}
 */
export function scaleOf(data) {
  let low = 0;
  let high = 0;
  for (const value of data) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const size = Math.max(-low, high) || 1;
  const table = low < 0 ? sides : oneSided();
  const middle = low < 0 ? STEPS : 0;
  const reach = low < 0 ? STEPS : table.length - 1;
  return { low, high, rgb: (value) => (Number.isNaN(value) ? NONE : table[middle + Math.round((Math.min(Math.max(value / size, -1), 1)) * reach)] ?? NONE) };
}

/**
 * A table as a picture of one pixel a cell.
 * @param {Float32Array} data
 * @param {number} rows
 * @param {number} columns
 * @param {Scale} [scale]
 */
export function pixels(data, rows, columns, scale = scaleOf(data)) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, columns);
  canvas.height = Math.max(1, rows);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(canvas.width, canvas.height);
  for (let cell = 0; cell < rows * columns; cell++) {
    const [r, g, b] = scale.rgb(data[cell]);
    image.data[4 * cell] = r;
    image.data[4 * cell + 1] = g;
    image.data[4 * cell + 2] = b;
    image.data[4 * cell + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** @param {string} letter */
export function axisColour(letter) {
  return state.axes.find((axis) => axis.letter === letter)?.colour ?? "#888888";
}
