// What the page shows now, and who wants to know when that changes.

import { ask } from "./api.js";

/** @typedef {import("./api.js").Run} Run */
/** @typedef {import("./api.js").Model} Model */

/**
 * @typedef {object} State
 * @property {string[]} names
 * @property {Model | null} model
 * @property {Run | null} run
 * @property {string} text
 * @property {string} to
 * @property {string} view
 * @property {number} step
 * @property {Record<string, number>} decoding
 * @property {{letter: string, name: string, colour: string}[]} axes
 * @property {string[]} ramp
 */

/** @type {State} */
export const state = {
  names: [],
  model: null,
  run: null,
  text: "",
  to: "",
  view: "flow",
  step: 0,
  decoding: {},
  axes: [],
  ramp: [],
};

/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener */
export function listen(listener) {
  listeners.add(listener);
}

export function changed() {
  for (const listener of listeners) listener();
}

/**
 * The request that the state stands for.
 * @param {string[]} [edits]
 * @returns {import("./api.js").Asked}
 */
export function asked(edits = []) {
  const model = /** @type {Model} */ (state.model);
  const writes = model.family !== "encoder-only";
  /** @type {import("./api.js").Asked} */
  const request = { model: model.name, text: state.text, edits };
  if (model.targets.length) request.to = state.to || model.targets[0];
  if (writes) {
    request.write = true;
    request.decoding = { max_new_tokens: 24, ...(model.family === "decoder-only" ? { temperature: 0 } : {}), ...state.decoding };
  }
  return request;
}

/** @type {AbortController | null} */
let pending = null;

/**
 * Runs what the state says, unless something newer is asked for meanwhile.
 * @returns {Promise<boolean>} whether it is what is shown now
 */
export async function rerun() {
  pending?.abort();
  const mine = (pending = new AbortController());
  try {
    const run = await ask("runs", asked(), mine.signal);
    if (mine.signal.aborted) return false;
    state.run = run;
    state.step = Math.min(state.step, Math.max(0, run.candidates.length - 1));
    changed();
    return true;
  } catch (error) {
    if (mine.signal.aborted) return false;
    throw error;
  }
}
