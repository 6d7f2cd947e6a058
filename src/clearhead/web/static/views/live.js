// The thing itself beside the text of a chapter: a model that runs on what one types, small enough to read along.

import { ask, values } from "../api.js";
import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { labels } from "../draw/labels.js";
import { lines } from "../draw/lines.js";
import { matrix } from "../draw/matrix.js";
import { request, state } from "../state.js";
import { why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */
/** @typedef {{view: string, says: string, settings: Record<string, string>}} Live */

/** @param {Live} live @returns {HTMLElement} */
export function liveBox(live) {
  const wanted = live.settings.model ?? "";
  const name = state.names.includes(wanted) ? wanted : state.names.includes("translator") && !wanted ? "translator" : (state.model?.name ?? state.names[0] ?? "");
  const link = `#/${live.view}?${new URLSearchParams({ ...live.settings, model: name })}`;
  const head = [h("h3", {}, "Live"), h("p", {}, live.says)];
  const foot = h("p", {}, h("a", { href: link }, "Open it in full"));
  if (!name || live.view === "train") return h("section", { class: "panel", "aria-label": "Live" }, ...head, foot);
  const board = h("div", { class: "live-board" }, h("p", { class: "quiet" }, "running …"));
  const box = h("section", { class: "panel", "aria-label": "Live", "aria-busy": "true" }, ...head, board, foot);
  begin(board, live, name)
    .catch((error) => fill(board, h("p", { class: "bad" }, String(error.message))))
    .finally(() => box.setAttribute("aria-busy", "false"));
  return box;
}

/** @param {HTMLElement} board @param {Live} live @param {string} name */
async function begin(board, live, name) {
  const model = /** @type {Model} */ (await ask(`models/${encodeURIComponent(name)}`));
  if (!board.isConnected) return; // one has gone on meanwhile
  const place = h("div", { "aria-live": "polite" });
  const shown = { text: live.settings.text ?? model.examples[0], step: 0, head: 0, factor: 1, open: false };
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", value: shown.text, "aria-label": `A text for ${name}`, maxlength: 400 }));
  let latest = 0;
  const again = async () => {
    const mine = ++latest;
    const to = live.settings.to && model.targets.includes(live.settings.to) ? { to: live.settings.to } : {};
    const run = /** @type {Run} */ (await ask("runs", { ...request(model, shown.text), ...to }));
    const children = await drawn(live, model, run, shown, to, again);
    if (mine === latest) fill(place, ...children);
  };
  input.addEventListener("change", () => {
    shown.text = input.value;
    again().catch((error) => fill(place, h("p", { class: "bad" }, String(error.message))));
  });
  fill(board, h("label", { class: "line live-text" }, h("span", { class: "quiet" }, name), input), place);
  await again();
}

/**
 * What a box shows of a run.
 * @param {Live} live
 * @param {Model} model
 * @param {Run} run
 * @param {{text: string, step: number, head: number, factor: number, open: boolean}} shown
 * @param {{to?: string}} to
 * @param {() => Promise<void>} again
 * @returns {Promise<(HTMLElement | null)[]>}
 */
async function drawn(live, model, run, shown, to, again) {
  const written = run.text ? h("p", { class: "said" }, "→ ", h("strong", {}, run.text)) : null;
  if (live.view === "attention" || live.view === "compare") return [written, await pattern(run, shown, again)];
  if (live.view === "whatif") return changed(model, run, shown, to, again);
  const box = h("div", {});
  const draw = () => {
    const steps = run.candidates.length;
    const step = Math.min(shown.step, steps - 1);
    const own = model.family === "encoder-only" ? run.source : run.target;
    const here = own.length - steps + step;
    const move = (/** @type {Event} */ event) => {
      shown.step = Number(/** @type {HTMLInputElement} */ (event.target).value);
      draw();
    };
    fill(
      box,
      written,
      run.source.length && model.family !== "encoder-only" ? h("ol", { class: "tokens", "aria-label": "Source" }, ...run.source.map((token) => h("li", { class: "token" }, token.shown))) : null,
      h("ol", { class: "tokens", "aria-label": "Tokens" }, ...own.map((token, index) => h("li", { class: `token${index === here ? " here" : ""}${run.written.length && index > here ? " later" : ""}` }, token.shown))),
      steps > 1 ? h("label", { class: "line" }, "step ", h("input", { type: "range", min: 0, max: steps - 1, value: step, "aria-label": "Step of the live run", oninput: move })) : null,
      steps ? bars(run.candidates[step].slice(0, 5)) : null,
    );
  };
  draw();
  return [box];
}

/** @param {Run} run @param {{head: number}} shown @param {() => Promise<void>} again */
async function pattern(run, shown, again) {
  const patterns = Object.keys(run.sites).filter((site) => site.endsWith(".pattern"));
  const site = patterns.filter((one) => one.includes("cross")).pop() ?? patterns[patterns.length - 1];
  if (!site) return null;
  const heads = run.sites[site].shape[1];
  shown.head = Math.min(shown.head, heads - 1);
  const found = await values(run.run, site, { head: shown.head });
  const choose = (/** @type {Event} */ event) => {
    shown.head = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    again();
  };
  const rows = labels(run, site, "Q", found.shape[0]);
  const columns = labels(run, site, "K", found.shape[1]);
  return h("div", {}, h("label", { class: "line" }, `${site.replace(".pattern", "")}, head `, h("select", { onchange: choose }, ...Array.from({ length: heads }, (_, head) => h("option", { value: head, selected: head === shown.head }, String(head))))), lines(found.data, rows, columns), matrix(found, { rows, columns, axes: "QK", name: site, room: 420, onpick: (row, column) => why(site, { H: shown.head, Q: row, K: column }, { run: run.run }) }));
}

/**
 * @param {Model} model
 * @param {Run} run
 * @param {{text: string, factor: number, open: boolean}} shown
 * @param {{to?: string}} to
 * @param {() => Promise<void>} again
 */
async function changed(model, run, shown, to, again) {
  const edits = [...(shown.factor === 1 ? [] : Object.keys(model.stacks).map((stack) => `scale:${stack}.*.self:factor=${shown.factor}`)), ...(shown.open ? ["open-mask:decoder"] : [])];
  const after = edits.length ? /** @type {Run} */ (await ask("runs", { ...request(model, shown.text, { edits }), ...to })) : run;
  const scaled = (/** @type {Event} */ event) => {
    shown.factor = Number((2 ** Number(/** @type {HTMLInputElement} */ (event.target).value)).toFixed(4));
    again();
  };
  const opened = (/** @type {Event} */ event) => {
    shown.open = /** @type {HTMLInputElement} */ (event.target).checked;
    again();
  };
  const side = (/** @type {string} */ name, /** @type {Run} */ one) => h("div", {}, h("h3", {}, name), h("p", { class: `said${one.text !== run.text ? " changed" : ""}` }, one.text || "–"), one.candidates.length ? bars(one.candidates[0].slice(0, 4)) : null);
  return [
    h("div", { class: "controls" }, h("label", {}, "scores × ", h("input", { type: "range", min: -3, max: 3, step: 0.5, value: Math.log2(shown.factor), "aria-label": "factor of the scores, live", onchange: scaled }), h("output", {}, short(shown.factor, 3))), model.stacks.decoder ? h("label", {}, h("input", { type: "checkbox", checked: shown.open, onchange: opened }), "open the mask") : null),
    h("div", { class: "before-after" }, side("as it is", run), side("changed", after)),
  ];
}
