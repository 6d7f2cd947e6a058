// Candidates and their probabilities, as bars.

import { h, short } from "../dom.js";

/** @typedef {import("../api.js").Candidate} Candidate */

/**
 * @param {Candidate[]} candidates
 * @param {{chosen?: number, onpick?: (candidate: Candidate) => void, after?: Map<number, number>}} [options]
 * @returns {HTMLElement}
 */
export function bars(candidates, options = {}) {
  const rows = candidates.flatMap((one) => {
    const word = h("button", { class: "word", type: "button", title: `why ${one.shown}?`, onclick: () => options.onpick?.(one) }, one.id === options.chosen ? `★ ${one.shown}` : one.shown);
    const bar = h("div", { class: "bar" });
    bar.style.width = `${Math.max(0.3, one.p * 100)}%`;
    const after = options.after?.get(one.id);
    const second = after === undefined ? null : h("div", { class: "bar after" });
    if (second && after !== undefined) second.style.width = `${Math.max(0.3, after * 100)}%`;
    const number = after === undefined ? short(one.p, 3) : `${short(one.p, 3)} → ${short(after, 3)}`;
    return [word, h("div", {}, bar, second), h("span", { class: "number" }, number)];
  });
  return h("div", { class: "bars" }, ...rows);
}
