// Train: tiny networks learn before your eyes: loss, attention, what they predict and what they write by themselves.

import { keep } from "../address.js";
import { ask } from "../api.js";
import { fill, h, short } from "../dom.js";
import { curve } from "../draw/curve.js";
import { matrix } from "../draw/matrix.js";
import { state } from "../state.js";
import { complain } from "../status.js";

/** @typedef {{step: number, pattern: number[][] | null, rows: string[], columns: string[], forced: string[], free: string[]}} Glimpse */
/** @typedef {{architecture: string, name: string, status: string, losses: [number, number][], glimpses: Glimpse[], total: number}} Lesson */
/** @typedef {{status: string, task?: string, example?: [string, string], lessons: Lesson[]}} Account */

const TASKS = /** @type {Record<string, string>} */ ({ reverse: "write letters in reverse", copy: "copy letters", pairs: "my own pairs" });
const WHICH = /** @type {Record<string, {says: string, list: string[]}>} */ ({
  transformer: { says: "a Transformer", list: ["transformer"] },
  both: { says: "Transformer, RNN with attention", list: ["transformer", "recurrent-attention"] },
  all: { says: "these, and an RNN without", list: ["transformer", "recurrent-attention", "recurrent"] },
});
/** What was seen of each lesson. @type {Glimpse[][]} */
let seen = [];
let chosen = -1;
let which = "transformer";
let pasted = "one cat\tun chat\ntwo cats\tdeux chats\none dog\tun chien\ntwo dogs\tdeux chiens";
let timer = 0;
let was = "";
/** Counts what was asked: of two answers only the later adds to what was seen. */
let asked = 0;

/** @param {HTMLElement} place */
export async function trainView(place) {
  const task = state.where.task ?? "reverse";
  const board = h("section", { "aria-label": "How it goes" });
  const box = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 5, cols: 50, "aria-label": "Pairs: source, a tab, target", hidden: task !== "pairs", oninput: () => (pasted = box.value) }, pasted));
  const pick = /** @type {HTMLSelectElement} */ (
    h("select", { onchange: () => { keep({ task: pick.value }); box.hidden = pick.value !== "pairs"; } }, ...Object.entries(TASKS).map(([key, name]) => h("option", { value: key, selected: key === task }, name)))
  );
  const nets = /** @type {HTMLSelectElement} */ (h("select", { onchange: () => (which = nets.value) }, ...Object.entries(WHICH).map(([key, { says }]) => h("option", { value: key, selected: key === which }, says))));
  const begin = async () => {
    await ask("training", { task: pick.value, pairs: pick.value === "pairs" ? pasted : "", architectures: WHICH[nets.value].list });
    seen = [];
    chosen = -1;
    await follow(board);
  };
  fill(
    place,
    h("h2", {}, "Train one yourself"),
    h("p", {}, "Width 64, random weights at first. It is the same training that ", h("code", {}, "clearhead train"), " does, with less of everything."),
    h("div", { class: "controls" }, h("label", {}, "task ", pick), h("label", {}, "network ", nets), h("button", { type: "button", class: "main", onclick: () => begin().catch(complain) }, "Train"), h("button", { type: "button", onclick: () => ask("training/stop", {}).catch(complain) }, "Stop")),
    box,
    board,
  );
  await follow(board);
}

/** @param {HTMLElement} board @returns {Promise<void>} */
async function follow(board) {
  const mine = ++asked;
  clearTimeout(timer);
  const account = /** @type {Account} */ (await ask(`training?since=${seen.map((one) => one.length).join(",")}`));
  if (mine !== asked) return;
  if (account.lessons.some((lesson, place) => lesson.total < (seen[place]?.length ?? 0))) {
    seen = [];
    return follow(board);
  }
  account.lessons.forEach((lesson, place) => (seen[place] ??= []).push(...lesson.glimpses));
  if (was === "running" && account.status !== "running") document.dispatchEvent(new Event("clearhead-models"));
  was = account.status;
  if (state.view !== "train" || !board.isConnected) return;
  draw(board, account);
  if (account.status === "running") timer = setTimeout(() => follow(board).catch(complain), 600);
}

/** @param {HTMLElement} board @param {Account} account */
function draw(board, account) {
  if (!account.lessons.length) {
    fill(board, h("p", { class: "quiet" }, "Nothing was trained yet."));
    return;
  }
  const most = Math.max(...seen.map((one) => one.length));
  const place = chosen < 0 ? most - 1 : Math.min(chosen, most - 1);
  const slide = (/** @type {Event} */ event) => {
    chosen = Number(/** @type {HTMLInputElement} */ (event.target).value);
    draw(board, account);
  };
  const losses = account.lessons.filter((lesson) => lesson.losses.length > 1).map((lesson) => ({ name: `${plain(lesson)}: ${short(lesson.losses[lesson.losses.length - 1][1], 3)}`, points: lesson.losses }));
  const ended = account.status !== "running";
  const trained = account.lessons.filter((lesson) => lesson.status === "done" || lesson.status === "stopped");
  fill(
    board,
    h("p", { id: "training-status", role: "status" }, account.lessons.map((lesson) => `${plain(lesson)}: ${lesson.status}`).join(" · "), ended ? " · all ended" : ""),
    h("section", { class: "panel" }, h("h3", {}, "Loss, step by step"), losses.length ? curve(losses, { name: "loss by step", low: 0 }) : h("p", { class: "quiet" }, "no loss yet")),
    most ? h("div", { class: "controls" }, h("label", {}, "look ", h("input", { type: "range", min: 0, max: most - 1, value: place, "aria-label": "Which look", oninput: slide })), h("span", { class: "quiet" }, `${account.example?.[0]} → ${account.example?.[1]}`)) : h("p", { class: "quiet" }, "waiting for the first look …"),
    h("div", { class: account.lessons.length > 1 ? "before-after" : "" }, ...account.lessons.map((lesson, index) => watched(lesson, seen[index]?.[Math.min(place, (seen[index]?.length ?? 0) - 1)]))),
    ended && trained.length ? h("p", { class: "panel" }, "Now they are models like any other: ", ...trained.flatMap((lesson) => [h("a", { href: opened(lesson, account) }, `open ${lesson.name}`), " · "]), trained.length > 1 ? h("a", { href: compared(trained, account) }, "compare them") : "") : null,
    ended && trained.some((lesson) => lesson.architecture === "transformer") ? gradient() : null,
  );
}

/** @param {Lesson} lesson */
function plain(lesson) {
  return lesson.name.replace("trained: ", "");
}

/** @param {Lesson} lesson @param {Account} account */
function opened(lesson, account) {
  return `#/flow?${new URLSearchParams({ model: lesson.name, text: account.example?.[0] ?? "" })}`;
}

/** @param {Lesson[]} trained @param {Account} account */
function compared(trained, account) {
  const text = account.example?.[0] ?? "";
  return `#/compare?${new URLSearchParams({ model: trained[0].name, text, with: trained[1].name, second: text })}`;
}

/** @param {Lesson} lesson @param {Glimpse | undefined} glimpse */
function watched(lesson, glimpse) {
  if (!glimpse) return h("section", { class: "panel" }, h("h3", {}, plain(lesson)), h("p", { class: "quiet" }, lesson.status));
  const words = (/** @type {string[]} */ tokens) => h("ol", { class: "tokens" }, ...tokens.map((token, index) => {
    const right = token === glimpse.rows[index];
    return h("li", { class: `token${right ? "" : " miss"}`, "aria-label": right ? null : `${token}, wrong` }, token.replace("▁", ""));
  }));
  return h(
    "section",
    { class: "panel" },
    h("h3", {}, `${plain(lesson)} after step ${glimpse.step}`),
    h("p", { class: "quiet" }, "teacher forcing: each position predicts the next token from the true ones before it"),
    words(glimpse.forced),
    h("p", { class: "quiet" }, "running free: each position reads what was written before it"),
    words(glimpse.free),
    h("h3", {}, "what each target token looked at in the source"),
    glimpse.pattern
      ? matrix({ data: new Float32Array(glimpse.pattern.flat()), shape: [glimpse.rows.length, glimpse.columns.length] }, { rows: glimpse.rows, columns: glimpse.columns, axes: "TS", name: "cross-attention of the watched pair, last layer, mean of heads", room: 420 })
      : h("p", { class: "quiet" }, "nothing: it has no attention, and must carry the source in one state"),
  );
}

function gradient() {
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "panel" }, h("summary", {}, "one gradient, and one step of AdamW, opened")));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const found = await ask("training/gradient");
    details.append(h("p", {}, `Loss of the watched pair: ${short(found.loss, 5)}. The weight whose gradient is greatest:`), branch(found.gradient, true), branch(found.update, true));
  });
  return details;
}

/** @param {any} node @param {boolean} [open] @returns {HTMLElement} */
function branch(node, open = false) {
  const head = [h("strong", { class: "number" }, short(node.value, 5)), ` ${node.name}${node.formula ? `: ${node.formula}` : ""}`];
  if (!node.children) return h("p", { class: "leaf" }, ...head);
  const rest = node.rest?.count ? h("p", { class: "quiet" }, `${node.rest.count} smaller terms together: ${short(node.rest.sum, 4)}`) : null;
  return h("details", { class: "branch", open }, h("summary", {}, ...head), ...node.children.map((/** @type {any} */ child) => branch(child)), rest);
}
