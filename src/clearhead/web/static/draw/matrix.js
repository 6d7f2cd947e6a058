// A table of numbers as cells: words on both axes, a cursor for the keyboard, a click or a drag on any cell.

import { h, short } from "../dom.js";
import { axisColour, pixels, scaleOf } from "./colour.js";

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
  const canvas = pixels(data, rows, columns);
  const ratio = Math.min(most / columns, most / rows);
  canvas.style.width = `${Math.max(8, columns * ratio)}px`;
  canvas.style.height = `${Math.max(8, rows * ratio)}px`;
  return canvas;
}

/**
 * @typedef {object} MatrixOptions
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} name what it is, for those who hear it
 * @property {string} [axes] the letters of rows and columns
 * @property {number} [highlight] a row to frame
 * @property {import("./colour.js").Scale} [scale] of a larger table that this is a part of
 * @property {number} [room] how wide it may be
 * @property {string} [says] what a click does
 * @property {(row: number, column: number, value: number) => void} [onpick]
 * @property {(row: number, column: number, by: number, done: boolean) => void} [ondrag] a share that was dragged, up is more
 */

/**
 * @param {Values} values two axes
 * @param {MatrixOptions} options
 * @returns {HTMLElement}
 */
export function matrix(values, options) {
  const [nRows, nColumns] = values.shape;
  const scale = options.scale ?? scaleOf(values.data);
  const room = options.room ?? 720;
  const probe = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const guess = Math.max(7, Math.min(32, Math.floor((room - 90) / Math.max(nColumns, 6))));
  const font = `${Math.min(13, Math.max(9, guess - 2))}px system-ui, "Noto Sans", "Noto Sans Devanagari", sans-serif`;
  probe.font = font;
  const widest = (/** @type {string[]} */ words) => Math.ceil(Math.min(110, Math.max(...words.map((word) => probe.measureText(word).width), 8) + 10));
  const named = guess >= 9;
  const left = named ? widest(options.rows) : 8;
  const top = named ? widest(options.columns) : 8;
  const cell = Math.max(6, Math.min(32, Math.floor((room - left) / Math.max(nColumns, 6))));
  const ratio = window.devicePixelRatio || 1;
  const wide = left + nColumns * cell + 2;
  const tall = top + nRows * cell + 2;
  const canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", { width: wide * ratio, height: tall * ratio, tabindex: 0, role: "application", "aria-label": `${options.name}. Arrow keys move over ${nRows} by ${nColumns} cells, Enter opens one.` })
  );
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${tall}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const picture = pixels(values.data, nRows, nColumns, scale);
  const look = getComputedStyle(document.body);
  let cursor = { row: Math.max(0, Math.min(options.highlight ?? 0, nRows - 1)), column: 0 };
  const readout = h("p", { class: "readout", "aria-live": "polite" });

  function draw() {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, tall);
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, left, top, nColumns * cell, nRows * cell);
    if (cell > 8) grid();
    if (named) words();
    frame();
  }

  function grid() {
    context.fillStyle = look.backgroundColor;
    for (let row = 1; row < nRows; row++) context.fillRect(left, top + row * cell - 1, nColumns * cell, 1);
    for (let column = 1; column < nColumns; column++) context.fillRect(left + column * cell - 1, top, 1, nRows * cell);
  }

  function words() {
    context.font = font;
    context.textBaseline = "middle";
    context.fillStyle = look.color;
    options.rows.forEach((word, row) => context.fillText(fit(word, left - 8), 2, top + (row + 0.5) * cell));
    options.columns.forEach((word, column) => {
      context.save();
      context.translate(left + (column + 0.5) * cell, top - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(fit(word, top - 8), 0, 0);
      context.restore();
    });
  }

  function frame() {
    context.lineWidth = 2;
    context.strokeStyle = "#2d7dd2"; // seen on pale cells, in light and in dark
    if (options.highlight !== undefined && options.highlight >= 0 && options.highlight < nRows) context.strokeRect(left, top + options.highlight * cell, nColumns * cell - 1, cell - 1);
    context.strokeStyle = "#d55e00";
    context.strokeRect(left + cursor.column * cell, top + cursor.row * cell, cell - 1, cell - 1);
    context.lineWidth = 1;
  }

  /** @param {string} word @param {number} space */
  function fit(word, space) {
    if (probe.measureText(word).width <= space) return word;
    let cut = word;
    while (cut.length > 1 && probe.measureText(`${cut}…`).width > space) cut = cut.slice(0, -1);
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

  /** @param {number} row @param {number} column */
  function pick(row, column) {
    cursor = { row, column };
    tell();
    options.onpick?.(row, column, values.data[row * nColumns + column]);
  }

  /** @type {{row: number, column: number, y: number, moved: boolean} | null} */
  let held = null;
  canvas.addEventListener("pointermove", (event) => {
    if (held && options.ondrag) {
      if (Math.abs(event.clientY - held.y) > 3) held.moved = true;
      if (held.moved) options.ondrag(held.row, held.column, (held.y - event.clientY) / 120, false);
      return;
    }
    const place = at(event);
    if (place && (place.row !== cursor.row || place.column !== cursor.column)) {
      cursor = place;
      tell();
    }
  });
  canvas.addEventListener("pointerdown", (event) => {
    const place = at(event);
    if (!place || !options.ondrag) return;
    held = { ...place, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held?.moved) options.ondrag?.(held.row, held.column, (held.y - event.clientY) / 120, true);
    else if (held) pick(held.row, held.column);
    held = null;
  });
  canvas.addEventListener("click", (event) => {
    const place = at(event);
    if (place && !options.ondrag) pick(place.row, place.column);
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
    } else if (options.ondrag && (event.key === "+" || event.key === "-")) {
      event.preventDefault();
      options.ondrag(cursor.row, cursor.column, event.key === "+" ? 0.1 : -0.1, true);
    }
  });

  tell();
  const letters = options.axes ? [...options.axes].map((letter, place) => axisName(letter, place)) : [];
  const says = options.says ?? (options.onpick ? "Click a number to ask why." : "");
  return h("div", { class: "table" }, h("p", { class: "axis-names" }, ...letters), h("div", { class: "matrix" }, canvas), readout, h("p", { class: "quiet" }, `${nRows} × ${nColumns}, from ${short(scale.low)} to ${short(scale.high)}. ${says}`));
}

/** @param {string} letter @param {number} place */
function axisName(letter, place) {
  const name = h("span", {}, place ? `${letter} →` : `${letter} ↓`);
  name.style.borderColor = axisColour(letter);
  return name;
}
