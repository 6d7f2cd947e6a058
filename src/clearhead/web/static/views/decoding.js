// Decoding step by step: what was read so far, the cache, what could come next and what was taken, the beams.

import { values } from "../api.js";
import { writeAddress } from "../address.js";
import { fill, h, short } from "../dom.js";
import { bars } from "../draw/bars.js";
import { cache } from "../draw/cache.js";
import { lookedAt } from "../draw/looked.js";
import { drawn } from "../draw/sampling.js";
import { tree } from "../draw/tree.js";
import { rerun, state } from "../state.js";
import { complain } from "../status.js";
import { refresh, why } from "./why.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {import("../api.js").Model} Model */

let playing = 0;
const opened = { tree: false };
const SHOWN = 8;
/** @type {Record<string, [number, number, number, number]>} */
const SLIDERS = { beams: [1, 8, 1, 4], temperature: [0, 2, 0.05, 0], top_k: [0, 100, 1, 0], top_p: [0.05, 1, 0.05, 1] };

/**
 * @param {Run} run
 * @param {Model} model
 * @param {() => void} again draws the view once more
 * @returns {HTMLElement}
 */
export function decodingPanel(run, model, again) {
  const steps = run.candidates.length;
  if (!steps) return h("div", {});
  const writes = run.written.length > 0;
  const step = Math.min(state.step, steps - 1);
  const reads = model.family === "encoder-only";
  const own = reads ? run.source : run.target;
  const here = reads ? step : run.target.length - steps + step;
  const tokens = own.map((token, index) => {
    const kind = `token${writes && index >= run.nPrompt ? " new" : ""}${index === here ? " here" : ""}${writes && index > here ? " later" : ""}`;
    return h("li", { class: kind, "aria-current": index === here ? "step" : null }, token.shown);
  });
  const likely = h("div", {});
  drawLikely(likely, run, model, step);
  return h(
    "section",
    { class: "panel decoding", "aria-label": "Decoding" },
    h(
      "div",
      { class: "decoding-left" },
      run.text ? h("p", { class: "output" }, h("span", { class: "quiet" }, writes ? "written " : ""), h("strong", { id: "output" }, run.text)) : null,
      h("h3", {}, reads ? "The text" : writes ? "What the decoder reads, token by token" : "The text"),
      h("ol", { class: "tokens", "aria-label": "Tokens" }, ...tokens),
      stepper(step, steps, writes, again),
      h("p", { class: "step-says" }, stepInWords(run, own[here]?.shown ?? "", step, reads)),
      lookedAt(run, here, (site, index) => why(site, index, { run: run.run })),
      writes && model.stacks.decoder && !model.recurrent ? cache({ layers: model.stacks.decoder.layers, filled: here + 1, total: run.target.length, fresh: step ? 1 : here + 1 }, run.source.length) : null,
    ),
    h("div", {}, likely, settings(model, () => drawLikely(likely, run, model, step))),
    run.beams.length ? beams(run) : null,
  );
}

/** What happens at a step. @param {Run} run @param {string} token the one that is read @param {number} step @param {boolean} reads */
function stepInWords(run, token, step, reads) {
  const best = run.candidates[step][0];
  const says = `“${best.shown}”, with probability ${short(best.p, 3)}`;
  if (reads) return `At “${token}” the head's first answer is ${says}.`;
  const taken = run.written[step];
  const read = step === 0 && run.source.length ? `It begins with “${token}”, its sign to start.` : `It reads “${token}”.`;
  if (!taken) return `${read} The likeliest to come next is ${says}.`;
  return `${read} The likeliest to come next is ${says}${taken.id === best.id ? ", and it is taken." : `; “${taken.shown}” is taken.`}`;
}

/** @param {number} step @param {number} steps @param {boolean} writes @param {() => void} again */
function stepper(step, steps, writes, again) {
  const jump = (/** @type {number} */ to) => {
    state.step = Math.min(Math.max(to, 0), steps - 1);
    writeAddress();
    again();
  };
  const slide = (/** @type {Event} */ event) => jump(Number(/** @type {HTMLInputElement} */ (event.target).value));
  return h(
    "div",
    { class: "stepper" },
    h("button", { type: "button", onclick: () => jump(step - 1), disabled: step === 0 }, "← back"),
    h("button", { type: "button", "data-key": "play", onclick: () => play(again) }, playing ? "pause" : "play"),
    h("button", { type: "button", onclick: () => jump(step + 1), disabled: step >= steps - 1 }, "next →"),
    h("input", { type: "range", min: 0, max: steps - 1, value: step, "aria-label": "Step", oninput: slide }),
    h("span", { class: "quiet" }, `${writes ? "step" : "position"} ${step + 1} of ${steps}`),
  );
}

/** @param {() => void} again */
function play(again) {
  const stop = () => {
    clearInterval(playing);
    playing = 0;
  };
  if (playing) {
    stop();
    again();
    return;
  }
  if (state.run && state.step >= state.run.candidates.length - 1) state.step = 0;
  playing = setInterval(() => {
    const run = state.run;
    if (!run || state.view !== "flow") return stop();
    state.step = Math.min(state.step + 1, run.candidates.length - 1);
    if (state.step >= run.candidates.length - 1) stop();
    again();
  }, 700);
  again();
}

/**
 * The candidates; beside them, what sampling makes of them, where it is set.
 * @param {HTMLElement} place
 * @param {Run} run
 * @param {Model} model
 * @param {number} step
 */
async function drawLikely(place, run, model, step) {
  const writes = run.written.length > 0;
  const letter = model.family === "encoder-only" ? "S" : "T";
  const alone = run.sites.logits?.axes === "BV";
  const pick = (/** @type {import("../api.js").Candidate} */ one) => why("logits", alone ? { V: one.id } : { [letter]: step, V: one.id }, { run: run.run });
  const found = writes && sampling().temperature > 0 ? await values(run.run, "logits", { row: step }) : null;
  const set = sampling(); // as it is by now
  const after = found && set.temperature > 0 ? drawn(found.data, set) : undefined;
  const title = !writes ? "What the head says here" : after ? "What could come next, and after temperature, top-k and top-p" : "What could come next";
  fill(
    place,
    h("h3", {}, title),
    bars(run.candidates[step].slice(0, SHOWN), { chosen: writes ? run.written[step]?.id : undefined, onpick: pick, after }),
    h("p", { class: "quiet" }, writes ? "★ was taken. Click a word to see why it has this probability." : "Click one to see why."),
  );
}

/** Runs with the settings as they are now; a number that is open is that of the new run. */
function anew() {
  rerun().then((shown) => (shown ? refresh() : undefined)).catch(complain);
}

function sampling() {
  const given = state.decoding;
  return { temperature: given.temperature ?? 0, top_k: given.top_k ?? 0, top_p: given.top_p ?? 1 };
}

/** @param {Model} model @param {() => void} redraw */
function settings(model, redraw) {
  if (model.family === "encoder-only") return null;
  const names = model.family === "encoder-decoder" ? Object.keys(SLIDERS) : Object.keys(SLIDERS).slice(1);
  const sliders = names.map((name) => {
    const [low, high, step, usual] = SLIDERS[name];
    const value = state.decoding[name] ?? usual;
    const told = h("output", {}, String(value));
    const read = (/** @type {Event} */ event) => {
      state.decoding[name] = Number(/** @type {HTMLInputElement} */ (event.target).value);
      told.textContent = String(state.decoding[name]);
    };
    const live = (/** @type {Event} */ event) => {
      read(event);
      redraw();
    };
    const settle = (/** @type {Event} */ event) => {
      read(event);
      state.decoding.seed ??= 1;
      anew();
    };
    return h("label", {}, h("span", {}, name.replace("_", "-")), h("input", { type: "range", min: low, max: high, step, value, "aria-label": name.replace("_", "-"), oninput: live, onchange: settle }), told);
  });
  const another = () => {
    state.decoding.seed = (state.decoding.seed ?? 1) + 1;
    anew();
  };
  const hot = sampling().temperature > 0;
  return h("div", { class: "sliders", role: "group", "aria-label": "Decoding settings" }, ...sliders, hot ? h("button", { type: "button", class: "small", onclick: another }, "draw again") : null);
}

/** @param {Run} run */
function beams(run) {
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "beams", open: opened.tree }, h("summary", {}, `The beam tree: every way that the search followed, and those that it gave up (score ${short(run.score ?? 0)})`)));
  const show = () => details.childElementCount === 1 && details.append(tree(run.beams, run.written.map((token) => token.id)));
  if (opened.tree) show();
  details.addEventListener("toggle", () => {
    opened.tree = details.open;
    if (details.open) show();
  });
  return details;
}
