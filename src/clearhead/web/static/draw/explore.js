// A table that is too large to read at once: all of it in blocks, and a window into it that one moves.

import { h } from "../dom.js";
import { pixels, scaleOf } from "./colour.js";
import { matrix } from "./matrix.js";

/** @typedef {import("../api.js").Values} Values */
/** @typedef {import("./matrix.js").MatrixOptions} MatrixOptions */
/** @typedef {{row: number, column: number, size: number}} Window */

export const MOST = 56;
const BLOCKS = 90;
const SIZES = [12, 20, 32, 48];

/**
 * Blocks of cells as one cell each. Shares of a pattern add up along keys, so that rows still sum to 1; of other
 * numbers the one that is farthest from nothing stands for its block.
 * @param {Values} values
 * @param {boolean} shares
 */
export function blocks(values, shares) {
  const [rows, columns] = values.shape;
  const high = Math.ceil(rows / BLOCKS);
  const wide = Math.ceil(columns / BLOCKS);
  const nRows = Math.ceil(rows / high);
  const nColumns = Math.ceil(columns / wide);
  const data = new Float32Array(nRows * nColumns);
  for (let row = 0; row < rows; row++) {
    const y = Math.floor(row / high);
    const inBlock = Math.min(high, rows - y * high);
    for (let column = 0; column < columns; column++) {
      const value = values.data[row * columns + column];
      if (Number.isNaN(value)) continue;
      const cell = y * nColumns + Math.floor(column / wide);
      if (shares) data[cell] += value / inBlock;
      else if (Math.abs(value) > Math.abs(data[cell])) data[cell] = value;
    }
  }
  return { data, shape: [nRows, nColumns], high, wide };
}

/**
 * @param {Values} values
 * @param {Window} window_
 */
export function cut(values, window_) {
  const [rows, columns] = values.shape;
  const nRows = Math.min(window_.size, rows - window_.row);
  const nColumns = Math.min(window_.size, columns - window_.column);
  const data = new Float32Array(nRows * nColumns);
  for (let row = 0; row < nRows; row++) data.set(values.data.subarray((window_.row + row) * columns + window_.column, (window_.row + row) * columns + window_.column + nColumns), row * nColumns);
  return { data, shape: [nRows, nColumns] };
}

/**
 * The table itself where it can be read, otherwise its blocks and a window.
 * @param {Values} values
 * @param {MatrixOptions & {shares?: boolean, start?: Window, onmove?: (window_: Window) => void, detail?: (part: Values, window_: Window) => HTMLElement}} options
 * @returns {HTMLElement}
 */
export function explore(values, options) {
  const [rows, columns] = values.shape;
  if (rows <= MOST && columns <= MOST) return options.detail ? options.detail(values, { row: 0, column: 0, size: MOST }) : matrix(values, options);
  const scale = scaleOf(values.data);
  const all = blocks(values, options.shares ?? false);
  const picture = pixels(all.data, all.shape[0], all.shape[1]);
  const most = Math.min(420, options.room ?? 420);
  const step = Math.max(2, Math.min(8, most / Math.max(...all.shape)));
  const x = (step * all.shape[1]) / columns;
  const y = (Math.max(step, Math.min(10, 60 / all.shape[0])) * all.shape[0]) / rows;
  const canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", { width: Math.ceil(columns * x), height: Math.ceil(rows * y), tabindex: 0, role: "application", "aria-label": `All of ${options.name} in blocks of ${all.high} by ${all.wide}. Arrow keys move the window, plus and minus change its size.` })
  );
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const view = bounded(options.start ?? { row: 0, column: 0, size: 32 });
  const inside = h("div", {});
  const told = h("p", { class: "quiet" });

  /** @param {Window} wanted */
  function bounded(wanted) {
    const size = Math.max(SIZES[0], Math.min(wanted.size || 32, SIZES[SIZES.length - 1]));
    return { size, row: Math.max(0, Math.min(wanted.row, rows - size)), column: Math.max(0, Math.min(wanted.column, columns - size)) };
  }

  function draw() {
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, 0, all.shape[1] * all.wide * x, all.shape[0] * all.high * y);
    context.lineWidth = 2;
    context.strokeStyle = "#d55e00";
    context.strokeRect(view.column * x + 1, view.row * y + 1, Math.min(view.size, columns) * x - 2, Math.min(view.size, rows) * y - 2);
    const part = cut(values, view);
    const { onpick, ondrag } = options;
    const drawn = options.detail
      ? options.detail(part, view)
      : matrix(part, {
          ...options,
          scale,
          rows: options.rows.slice(view.row, view.row + part.shape[0]),
          columns: options.columns.slice(view.column, view.column + part.shape[1]),
          highlight: options.highlight === undefined ? undefined : options.highlight - view.row,
          onpick: onpick && ((row, column, value) => onpick(view.row + row, view.column + column, value)),
          ondrag: ondrag && ((row, column, by, done) => ondrag(view.row + row, view.column + column, by, done)),
        });
    inside.replaceChildren(drawn);
    told.textContent = `The window: rows ${view.row} to ${view.row + part.shape[0] - 1} of ${rows}, columns ${view.column} to ${view.column + part.shape[1] - 1} of ${columns}.`;
  }

  let asked = 0;
  /** @param {Partial<Window>} wanted */
  function move(wanted) {
    Object.assign(view, bounded({ ...view, ...wanted }));
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(draw);
    options.onmove?.(view);
  }

  /** @param {PointerEvent} event */
  function centre(event) {
    const box = canvas.getBoundingClientRect();
    const shrunk = box.width / canvas.width;
    move({ column: Math.round((event.clientX - box.left) / shrunk / x - view.size / 2), row: Math.round((event.clientY - box.top) / shrunk / y - view.size / 2) });
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    centre(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && centre(event));
  canvas.addEventListener("keydown", (event) => {
    const half = Math.ceil(view.size / 2);
    const moves = /** @type {Record<string, Partial<Window>>} */ ({
      ArrowUp: { row: view.row - half },
      ArrowDown: { row: view.row + half },
      ArrowLeft: { column: view.column - half },
      ArrowRight: { column: view.column + half },
      "+": { size: SIZES[Math.max(0, SIZES.findIndex((size) => size >= view.size) - 1)] },
      "-": { size: SIZES[Math.min(SIZES.length - 1, SIZES.findIndex((size) => size >= view.size) + 1)] },
    });
    if (!moves[event.key]) return;
    event.preventDefault();
    move(moves[event.key]);
  });
  draw();
  const zoom = (/** @type {string} */ key, /** @type {string} */ name) => h("button", { type: "button", class: "small", "aria-label": name, onclick: () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key })) }, key);
  return h("div", { class: "explore" }, h("div", { class: "overview" }, h("p", { class: "quiet" }, `All ${rows} × ${columns}, in blocks of ${all.high} × ${all.wide}: drag the frame. `, zoom("+", "Zoom in"), " ", zoom("-", "Zoom out")), canvas, told), inside);
}
