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
 * @property {Record<string, string>} where in the view, as the address says it
 * @property {string} question the number that was asked about last, as the address says it
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
  where: {},
  question: "",
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

/** Makes a run the one that is shown. @param {Run} run */
export function show(run) {
  state.run = run;
  state.step = Math.min(state.step, Math.max(0, run.candidates.length - 1));
  changed();
}

/** What a draft leaves out, so that it is there while one types. */
const DRAFT = { max_new_tokens: 3, beams: 1 };

/**
 * The request that runs a model on a text.
 * @param {Model} model
 * @param {string} text
 * @param {{edits?: string[], draft?: boolean}} [options]
 * @returns {import("./api.js").Asked}
 */
export function request(model, text, options = {}) {
  /** @type {import("./api.js").Asked} */
  const wanted = { model: model.name, text, edits: options.edits ?? [] };
  if (model.targets.length) wanted.to = model.targets.includes(state.to) ? state.to : model.targets[0];
  if (model.family === "encoder-only") return wanted;
  wanted.write = true;
  wanted.decoding = { ...model.usual.decoding, ...state.decoding };
  const drawn = Boolean(wanted.decoding.temperature);
  if (!drawn) for (const name of ["top_k", "top_p"]) delete wanted.decoding[name];
  if (model.family === "decoder-only") delete wanted.decoding.beams;
  else if (drawn) wanted.decoding.beams = 1;
  else delete wanted.decoding.temperature;
  if (options.draft) Object.assign(wanted.decoding, model.family === "decoder-only" ? { max_new_tokens: DRAFT.max_new_tokens } : DRAFT);
  return wanted;
}

/**
 * The request that the state stands for.
 * @param {string[]} [edits]
 */
export function asked(edits = []) {
  return request(/** @type {Model} */ (state.model), state.text, { edits });
}

/** @typedef {{draft: boolean, resolve: (shown: boolean) => void, reject: (error: unknown) => void}} Waiting */
/** @type {Waiting | null} */
let waiting = null;
let busy = false;

/**
 * Runs what the state says. One run at a time; of those that wait, the newest is made.
 * @param {{draft?: boolean}} [options] a draft is short and without beams
 * @returns {Promise<boolean>} whether it is what is shown now
 */
export function rerun({ draft = false } = {}) {
  waiting?.resolve(false);
  return new Promise((resolve, reject) => {
    waiting = { draft, resolve, reject };
    if (!busy) work();
  });
}

/** Whether something runs. */
export function underWay() {
  return busy;
}

async function work() {
  busy = true;
  while (waiting) {
    const mine = /** @type {Waiting} */ (waiting);
    waiting = null;
    const model = /** @type {Model} */ (state.model);
    try {
      const run = await ask("runs", request(model, state.text, { draft: mine.draft }));
      const current = state.model === model;
      if (current) show(run);
      mine.resolve(current);
    } catch (error) {
      mine.reject(error);
    }
  }
  busy = false;
}
