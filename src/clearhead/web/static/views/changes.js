// What is changed inside a run, as the address holds it, as the server reads it, and as one says it.

import { state } from "../state.js";

/** @typedef {import("../api.js").Model} Model */
/** @typedef {{key: string, value: string, edits: string[], says: string}} Change */

/** The parts of a list in the address. @param {string} key */
export function listed(key) {
  return (state.where[key] ?? "").split(",").filter(Boolean);
}

/** A list with one thing more, or without it. @param {string} key @param {string} one */
export function toggled(key, one) {
  const all = new Set(listed(key));
  if (!all.delete(one)) all.add(one);
  return [...all].join(",");
}

/**
 * Everything that is changed.
 * @param {Model} model
 * @returns {Change[]}
 */
export function changes(model) {
  const { open, factor, swap, look, drop } = state.where;
  const stacks = Object.keys(model.stacks);
  /** @type {Change[]} */
  const found = [];
  /** @type {Map<string, string[]>} */
  const heads = new Map();
  for (const one of listed("off")) {
    const [part, head] = one.split(":");
    heads.set(part, [...(heads.get(part) ?? []), head]);
  }
  for (const [part, list] of heads) found.push({ key: "off", value: listed("off").filter((one) => one.split(":")[0] !== part).join(","), edits: [`ablate:${part}:head=${list.join("+")}`], says: `${part}: head ${list.join(", ")} off` });
  for (const block of listed("skip")) found.push({ key: "skip", value: toggled("skip", block), edits: [`skip:${block}`], says: `${block} left out` });
  if (open) found.push({ key: "open", value: "", edits: ["open-mask:decoder"], says: "the mask is open" });
  if (factor) found.push({ key: "factor", value: "", edits: stacks.map((stack) => `scale:${stack}.*.self:factor=${factor}`), says: `scores × ${factor}` });
  if (swap) {
    const [stack, first, second] = swap.split(":");
    found.push({ key: "swap", value: "", edits: [`swap:${stack}:first=${first},second=${second}`], says: `positions ${first} and ${second} exchanged` });
  }
  if (drop) found.push({ key: "drop", value: "", edits: [`drop:${"encoder" in model.stacks ? (model.stacks.decoder ? "cross" : "encoder") : "decoder"}:position=${drop}`], says: `position ${drop} hidden` });
  if (look) {
    const [part, head, query, weights] = look.split(":");
    const where = weights.startsWith("key") ? `key=${weights.slice(3)}` : `weights=${weights},normalise=true`;
    found.push({ key: "look", value: "", edits: [`look:${part}:head=${head},query=${query},${where}`], says: `${part}, head ${head}: row ${query} looks elsewhere` });
  }
  return found;
}

/** @param {string} part @param {number} head @param {number} query @param {number} key */
export function lookOnly(part, head, query, key) {
  return [part, head, query, `key${key}`].join(":");
}

const LONGEST = 1500;

/**
 * A row whose one share was moved; the others give or take in proportion.
 * @param {string} part
 * @param {number} head
 * @param {number} query
 * @param {Float32Array} row
 * @param {number} key
 * @param {number} share
 */
export function lookBy(part, head, query, row, key, share) {
  const rest = row.reduce((sum, one, place) => sum + (place === key || Number.isNaN(one) ? 0 : one), 0);
  const shares = Array.from(row, (one, place) => (place === key ? share : Number.isNaN(one) ? 0 : rest > 0 ? (one * (1 - share)) / rest : 0));
  if (rest <= 0 && share < 1) shares[key === 0 ? Math.min(1, row.length - 1) : 0] += 1 - share;
  while (shares.length > 1 && shares[shares.length - 1] === 0) shares.pop();
  const weights = shares.map((one) => String(Number(one.toFixed(5)))).map((one) => (one.includes("e") ? "0" : one)).join("+");
  return weights.length > LONGEST ? lookOnly(part, head, query, key) : [part, head, query, weights].join(":");
}
