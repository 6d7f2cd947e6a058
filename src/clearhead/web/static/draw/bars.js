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
    const label = [one.id === options.chosen ? h("span", { class: "taken", title: "taken" }, "★ ") : null, one.shown];
    const word = options.onpick
      ? h("button", { class: "word", type: "button", "data-key": `candidate ${one.shown}`, title: `why ${one.shown}?`, onclick: () => options.onpick?.(one) }, ...label)
      : h("span", { class: "word" }, ...label);
    const after = options.after ? (options.after.get(one.id) ?? 0) : undefined;
    const number = after === undefined ? short(one.p, 3) : `${short(one.p, 3)} → ${short(after, 3)}`;
    return [word, h("div", { class: "track" }, bar(one.p, "bar"), after === undefined ? null : bar(after, "bar after")), h("span", { class: "number" }, number)];
  });
  return h("div", { class: "bars" }, ...rows);
}

/** @param {number} share @param {string} kind */
function bar(share, kind) {
  const element = h("div", { class: kind });
  element.style.width = `${Math.max(0.4, share * 100)}%`;
  return element;
}
