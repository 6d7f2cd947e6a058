// What a number is for, in plain words, with the tokens that it is about.

import { short } from "../dom.js";
import { labels } from "./labels.js";

/** @typedef {import("../api.js").Run} Run */
/** @typedef {Record<string, number | string>} Index */

/** What a whole table is, in a sentence; by the last name of its site. @type {Record<string, string>} */
const TABLES = {
  query: "What each token is looking for, as one short vector a head.",
  key: "What each token offers to be found by, as one short vector a head.",
  value: "What each token hands over to those who look at it.",
  rotated_query: "The queries, turned by an angle that grows with the position, so that scores feel distance.",
  rotated_key: "The keys, turned by an angle that grows with the position, so that scores feel distance.",
  score: "How well each query (row) fits each key (column): a dot product, before softmax makes shares of it.",
  pattern: "Who looks at whom: every row is one token's attention, shared out over the columns, and sums to 1.",
  mixed: "What each head brings back: the values of all tokens, each times its share.",
  output: "What this part adds to the stream of every token.",
  norm: "The same numbers on one scale: each row is shifted and stretched, so that no layer has to cope with sizes that drift.",
  hidden: "Hidden units of the feed-forward part: each answers to some pattern in a token's vector, one token at a time.",
  resid_pre: "The stream as it comes into this block: one vector a token, to which every part adds.",
  resid_mid: "The stream after self-attention: each token now knows of the others.",
  resid_cross: "The stream after cross-attention: each target token now knows of the source.",
  resid_post: "The stream as it leaves this block.",
  token: "One learned vector a token, the same wherever the token stands: a row of a table.",
  position: "What tells the model where a token stands, added to its vector.",
  segment: "What tells the model to which of two texts a token belongs.",
  final_norm: "The stream on one scale, ready to be compared with every word of the vocabulary.",
  logits: "One number for every word of the vocabulary at every position; softmax makes probabilities of each row.",
  vector: "One vector for the whole text.",
};

/** @param {string} site */
export function tableInWords(site) {
  return TABLES[site.split(".").pop() ?? ""] ?? "";
}

/**
 * One number of a run in a sentence; nothing where there is nothing plain to say.
 * @param {Run} run
 * @param {string} site
 * @param {Index} index
 * @param {number} value
 */
export function numberInWords(run, site, index, value) {
  const record = run.sites[site];
  const leaf = site.split(".").pop() ?? "";
  if (!record) return "";
  const token = (/** @type {string} */ letter) => {
    const axis = record.axes.indexOf(letter);
    return axis < 0 || !(letter in index) ? "" : `“${labels(run, site, letter, record.shape[axis])[Number(index[letter])] ?? index[letter]}”`;
  };
  const row = token("Q") || token("K") || token("T") || token("S") || "the text";
  const head = index.H ?? index.G;
  const inHead = head === undefined ? "" : ` in head ${head}`;
  const place = index.C ?? index.D ?? index.F;
  const nth = place === undefined ? "One number" : `Number ${place}`;
  if (leaf === "logits") return logit(run, index, row);
  const said = /** @type {Record<string, string>} */ ({
    pattern: `Of all its attention${inHead}, ${row} gives ${token("K")} this share: ${percent(value)}. The shares of a row sum to 1.`,
    score: `How well what ${row} looks for fits what ${token("K")} offers${inHead}. Softmax turns the scores of a row into shares.`,
    query: `${nth} of what ${row} looks for${inHead}.`,
    key: `${nth} of what ${row} offers to be found by${inHead}.`,
    value: `${nth} of what ${row} hands over to those who look at it${inHead}.`,
    rotated_query: `${nth} of what ${row} looks for${inHead}, turned by its position.`,
    rotated_key: `${nth} of what ${row} offers${inHead}, turned by its position.`,
    mixed: `${nth} of what head ${head} brings back to ${row}: everybody's values, each times its share.`,
    output: `${nth} of what this part adds to the stream of ${row}.`,
    norm: `${nth} of the vector of ${row}, brought to a common scale.`,
    hidden: place === undefined ? "" : `How strongly hidden unit ${place} answers to ${row}.`,
    resid_pre: `${nth} of the vector that stands for ${row} as it comes into this block.`,
    resid_mid: `${nth} of the vector that stands for ${row}, after it looked at its neighbours.`,
    resid_cross: `${nth} of the vector that stands for ${row}, after it looked at the source.`,
    resid_post: `${nth} of the vector that stands for ${row} as it leaves this block.`,
    token: `${nth} of the vector that ${row} begins with, before any context: a row of a learned table.`,
    position: `${nth} of what is added to ${row} for standing where it stands.`,
    final_norm: `${nth} of the last vector of ${row}, on the scale that the vocabulary is compared with.`,
  });
  return said[leaf] ?? "";
}

/** @param {Run} run @param {Index} index @param {string} row */
function logit(run, index, row) {
  const step = Number(index.T ?? index.S ?? 0);
  const one = run.candidates[step]?.find((candidate) => candidate.id === Number(index.V));
  const after = run.family === "encoder-only" ? `at ${row}` : `after ${row}`;
  if (!one) return `How strongly the model speaks for this word ${after}, beside every other word.`;
  return `How strongly the model speaks for “${one.shown}” ${after}. Beside the logits of all other words, that makes a probability of ${short(one.p, 4)}.`;
}

/** @param {number} share */
function percent(share) {
  return `${short(100 * share, 3)} %`;
}
