// A table of numbers as cells: words on both axes, a cursor for the keyboard, a click on any cell.

import { h, short } from "../dom.js";
import { scaleOf } from "./colour.js";

/** @typedef {import("../api.js").Values} Values */

/**
 * A small picture without labels.
 * @param {Float32Array} data
 * @param {number} rows
 * @param {number} columns
 * @param {number} [most] pixels on its longer side
 * @returns {HTMLCanvasElement}
 */
export function thumbnail(data, rows, columns, most = 96) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { width: Math.max(1, Math.min(columns, most * 2)), height: Math.max(1, Math.min(rows, most * 2)) }));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const { colour } = scaleOf(data);
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) {
      const row = Math.floor((y * rows) / canvas.height);
      const column = Math.floor((x * columns) / canvas.width);
      context.fillStyle = colour(data[row * columns + column]);
      context.fillRect(x, y, 1, 1);
    }
  }
  const ratio = Math.min(most / canvas.width, most / canvas.height);
  canvas.style.width = `${Math.max(8, canvas.width * ratio)}px`;
  canvas.style.height = `${Math.max(8, canvas.height * ratio)}px`;
  return canvas;
}

/**
 * @typedef {object} MatrixOptions
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} name what it is, for those who hear it
 * @property {number} [highlight] a row to frame
 * @property {(row: number, column: number, value: number) => void} [onpick]
 */

/**
 * @param {Values} values two axes
 * @param {MatrixOptions} options
 * @returns {HTMLElement}
 */
export function matrix(values, options) {
  const [nRows, nColumns] = values.shape;
  const { colour, low, high } = scaleOf(values.data);
  const cell = Math.max(6, Math.min(34, Math.floor(760 / Math.max(nColumns, 8))));
  const font = `${Math.min(13, Math.max(9, cell - 3))}px system-ui, "Noto Sans Devanagari", sans-serif`;
  const probe = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  probe.font = font;
  const widest = (/** @type {string[]} */ words) => Math.min(130, Math.max(...words.map((word) => probe.measureText(word).width), 8) + 10);
  const left = widest(options.rows);
  const top = cell >= 9 ? widest(options.columns) : 8;
  const scale = window.devicePixelRatio || 1;
  const wide = left + nColumns * cell + 2;
  const high_ = top + nRows * cell + 2;
  const canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", { width: wide * scale, height: high_ * scale, tabindex: 0, role: "application", "aria-label": `${options.name}. Arrow keys move over ${nRows} by ${nColumns} cells, Enter opens one.` })
  );
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${high_}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const ink = getComputedStyle(document.body).color;
  let cursor = { row: Math.min(options.highlight ?? 0, nRows - 1), column: 0 };
  const readout = h("p", { class: "readout", "aria-live": "polite" });

  function draw() {
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, wide, high_);
    context.font = font;
    context.textBaseline = "middle";
    context.fillStyle = ink;
    if (cell >= 9) {
      options.rows.forEach((word, row) => context.fillText(fit(word, left - 8), 2, top + (row + 0.5) * cell));
      options.columns.forEach((word, column) => {
        context.save();
        context.translate(left + (column + 0.5) * cell, top - 4);
        context.rotate(-Math.PI / 2);
        context.fillText(fit(word, top - 8), 0, 0);
        context.restore();
      });
    }
    const gap = cell > 8 ? 1 : 0;
    for (let row = 0; row < nRows; row++) {
      for (let column = 0; column < nColumns; column++) {
        context.fillStyle = colour(values.data[row * nColumns + column]);
        context.fillRect(left + column * cell, top + row * cell, cell - gap, cell - gap);
      }
    }
    context.strokeStyle = ink;
    if (options.highlight !== undefined && options.highlight < nRows) {
      context.strokeRect(left - 1.5, top + options.highlight * cell - 1.5, nColumns * cell + 1, cell + 1);
    }
    context.lineWidth = 2;
    context.strokeStyle = "#d55e00";
    context.strokeRect(left + cursor.column * cell, top + cursor.row * cell, cell - gap, cell - gap);
    context.lineWidth = 1;
  }

  /** @param {string} word @param {number} room */
  function fit(word, room) {
    if (probe.measureText(word).width <= room) return word;
    let cut = word;
    while (cut.length > 1 && probe.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
    return `${cut}…`;
  }

  function tell() {
    const value = values.data[cursor.row * nColumns + cursor.column];
    readout.textContent = `${options.rows[cursor.row]} → ${options.columns[cursor.column]}: ${short(value, 6)}`;
    draw();
  }

  /** @param {MouseEvent} event */
  function at(event) {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left) / cell);
    const row = Math.floor((event.clientY - box.top - top) / cell);
    return row >= 0 && column >= 0 && row < nRows && column < nColumns ? { row, column } : null;
  }

  canvas.addEventListener("mousemove", (event) => {
    const place = at(event);
    if (place && (place.row !== cursor.row || place.column !== cursor.column)) {
      cursor = place;
      tell();
    }
  });
  canvas.addEventListener("click", (event) => {
    const place = at(event);
    if (place) pick(place.row, place.column);
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] });
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      cursor = { row: Math.min(nRows - 1, Math.max(0, cursor.row + move[0])), column: Math.min(nColumns - 1, Math.max(0, cursor.column + move[1])) };
      tell();
    } else if (event.key === "Enter") {
      event.preventDefault();
      pick(cursor.row, cursor.column);
    }
  });

  /** @param {number} row @param {number} column */
  function pick(row, column) {
    cursor = { row, column };
    tell();
    options.onpick?.(row, column, values.data[row * nColumns + column]);
  }

  tell();
  const range = h("p", { class: "quiet" }, `${nRows} × ${nColumns}, from ${short(low)} to ${short(high)}. Click a number to ask why.`);
  return h("div", {}, h("div", { class: "matrix" }, canvas), readout, range);
}
