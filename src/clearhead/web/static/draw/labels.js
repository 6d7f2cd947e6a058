// What stands along the axes of a site.

/** @typedef {import("../api.js").Run} Run */

/**
 * What stands along an axis: tokens where there are any, otherwise numbers.
 * @param {Run} run
 * @param {string} site
 * @param {string} letter
 * @param {number} length
 * @returns {string[]}
 */
export function labels(run, site, letter, length) {
  const reads = run.family === "encoder-only" || site.startsWith("encoder.");
  let tokens = null;
  if (letter === "S") tokens = run.source;
  else if (letter === "T") tokens = run.target;
  else if (letter === "Q") tokens = reads ? run.source : run.target;
  else if (letter === "K") tokens = reads || site.includes(".cross.") ? run.source : run.target;
  if (!tokens) return Array.from({ length }, (_, place) => String(place));
  return tokens.slice(tokens.length - length).map((token) => token.shown);
}
