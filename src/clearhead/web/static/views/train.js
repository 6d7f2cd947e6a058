// Train: a tiny translator learns before your eyes: loss, attention, what it predicts and what it writes by itself.

import { ask } from "../api.js";
import { fill, h, s, short } from "../dom.js";
import { matrix } from "../draw/matrix.js";
import { state } from "../state.js";

/** @typedef {{step: number, pattern: number[][], rows: string[], columns: string[], forced: string[], free: string[]}} Glimpse */
/** @typedef {{status: string, task?: string, example?: [string, string], losses?: [number, number][], glimpses?: Glimpse[], total?: number}} Account */

/** @type {Glimpse[]} */
let glimpses = [];
let chosen = -1;
let task = "reverse";
let pasted = "one cat\tun chat\ntwo cats\tdeux chats\none dog\tun chien\ntwo dogs\tdeux chiens";
let timer = 0;

/** @param {HTMLElement} place */
export function trainView(place) {
  const board = h("section", { "aria-live": "off" });
  const box = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 5, cols: 50, "aria-label": "Pairs: source, a tab, target", hidden: task !== "pairs", oninput: () => (pasted = box.value) }, pasted));
  const pick = /** @type {HTMLSelectElement} */ (
    h("select", { onchange: () => { task = pick.value; box.hidden = task !== "pairs"; } }, ...[["reverse", "write letters in reverse"], ["copy", "copy letters"], ["pairs", "my own pairs"]].map(([key, name]) => h("option", { value: key, selected: key === task }, name)))
  );
  fill(
    place,
    h("h2", {}, "Train one yourself"),
    h("p", {}, "Two layers each, width 64, random weights. It is the same training that `clearhead train` does, with less of everything."),
    h("div", { class: "controls" }, h("label", {}, "task ", pick), h("button", { type: "button", class: "main", onclick: () => begin(board) }, "Train"), h("button", { type: "button", onclick: () => ask("training/stop", {}) }, "Stop")),
    box,
    board,
  );
  follow(board);
}

/** @param {HTMLElement} board */
async function begin(board) {
  glimpses = [];
  chosen = -1;
  await ask("training", { task, pairs: task === "pairs" ? pasted : "" });
  follow(board);
}

/** @param {HTMLElement} board */
async function follow(board) {
  clearTimeout(timer);
  const account = /** @type {Account} */ (await ask(`training?since=${glimpses.length}`));
  if (account.total !== undefined && account.total < glimpses.length) glimpses = [];
  glimpses.push(...(account.glimpses ?? []));
  if (state.view !== "train" || !board.isConnected) return;
  draw(board, account);
  if (account.status === "running") timer = setTimeout(() => follow(board), 600);
}

/** @param {HTMLElement} board @param {Account} account */
function draw(board, account) {
  if (account.status === "none") {
    fill(board, h("p", { class: "quiet" }, "Nothing was trained yet."));
    return;
  }
  const place = chosen < 0 ? glimpses.length - 1 : Math.min(chosen, glimpses.length - 1);
  const glimpse = glimpses[place];
  fill(
    board,
    h("p", { id: "training-status" }, `${account.task}: ${account.status}`),
    curve(account.losses ?? []),
    glimpse ? watched(glimpse, account, board) : h("p", { class: "quiet" }, "waiting for the first look …"),
    account.status === "done" || account.status === "stopped" ? gradient() : null,
  );
}

/** @param {[number, number][]} losses */
function curve(losses) {
  if (losses.length < 2) return h("p", { class: "quiet" }, "no loss yet");
  const wide = 520;
  const high = 150;
  const last = losses[losses.length - 1][0];
  const top = Math.max(...losses.map(([, loss]) => loss));
  const points = losses.map(([step, loss]) => `${40 + ((wide - 50) * step) / last},${high - 20 - ((high - 30) * loss) / top}`).join(" ");
  const svg = s("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `loss from ${short(losses[0][1], 3)} to ${short(losses[losses.length - 1][1], 3)}` }, s("polyline", { points, fill: "none", stroke: "#2d7dd2", "stroke-width": 2 }), s("text", { x: 0, y: 14, fill: "currentColor", "font-size": 12 }, short(top, 3)), s("text", { x: 0, y: high - 18, fill: "currentColor", "font-size": 12 }, "0"), s("text", { x: wide - 60, y: high - 4, fill: "currentColor", "font-size": 12 }, `step ${last}`));
  return h("div", { class: "scroll" }, h("h3", {}, `loss ${short(losses[losses.length - 1][1], 4)}`), svg);
}

/** @param {Glimpse} glimpse @param {Account} account @param {HTMLElement} board */
function watched(glimpse, account, board) {
  const flat = new Float32Array(glimpse.pattern.flat());
  const slide = h("input", { type: "range", min: 0, max: glimpses.length - 1, value: glimpses.indexOf(glimpse), "aria-label": "Which look", oninput: (/** @type {Event} */ event) => { chosen = Number(/** @type {HTMLInputElement} */ (event.target).value); draw(board, account); } });
  const words = (/** @type {string[]} */ tokens) => tokens.map((token, index) => h("li", { class: `token${token === glimpse.rows[index] ? "" : " here"}` }, token.replace("▁", "")));
  return h(
    "div",
    { class: "panel" },
    h("div", { class: "stepper" }, `after step ${glimpse.step}`, slide),
    h("p", {}, `${account.example?.[0]} → ${account.example?.[1]}`),
    h("h3", {}, "teacher forcing: each position predicts the next token from the true ones before it"),
    h("ol", { class: "tokens" }, ...words(glimpse.forced)),
    h("h3", {}, "running free: each position reads what was written before it"),
    h("ol", { class: "tokens" }, ...words(glimpse.free)),
    h("h3", {}, "what each target token looked at in the source, last layer, mean of heads"),
    matrix({ data: flat, shape: [glimpse.rows.length, glimpse.columns.length] }, { rows: glimpse.rows, columns: glimpse.columns, name: "cross-attention of the watched pair" }),
  );
}

function gradient() {
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "panel" }, h("summary", {}, "one gradient, and one step of AdamW, opened")));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const found = await ask("training/gradient");
    details.append(h("p", {}, `loss of the watched pair: ${short(found.loss, 5)}`), branch(found.gradient), branch(found.update));
  });
  return details;
}

/** @param {any} node @returns {HTMLElement} */
function branch(node) {
  const head = [h("strong", { class: "number" }, short(node.value, 5)), ` ${node.name}${node.formula ? `: ${node.formula}` : ""}`];
  if (!node.children) return h("p", {}, ...head);
  return h("details", { open: true }, h("summary", {}, ...head), ...node.children.map(branch));
}
