// What the page asks the server.

/** @typedef {{id: number, piece: string, shown: string}} Token */
/** @typedef {{file: string, line: number, code: string}} Line */
/** @typedef {{axes: string, shape: number[], operation: string, inputs: string[], parameters: string[], line: Line | null}} Site */
/** @typedef {{id: number, shown: string, logit: number, p: number}} Candidate */
/** @typedef {{parent: number, id: number, shown: string, logProbability: number, score: number, fate: string, place: number | null}} Beam */
/**
 * @typedef {object} Run
 * @property {string} run
 * @property {string} text
 * @property {string} family
 * @property {Token[]} source
 * @property {Token[]} target
 * @property {Token[]} written
 * @property {number} nPrompt
 * @property {number[]} scores
 * @property {number | null} score
 * @property {number} lengthPenalty
 * @property {Beam[][]} beams
 * @property {Candidate[][]} candidates
 * @property {Record<string, Site>} sites
 */
/** @typedef {{layers: number, width: number, heads: number, kvHeads: number, headWidth: number, hidden: number, vocabulary: number, activation: string, gated: boolean, norm: string, normBefore: boolean, finalNorm: boolean, position: string}} Stack */
/**
 * @typedef {object} Model
 * @property {string} name
 * @property {string} family
 * @property {string} layout
 * @property {string[]} verbs
 * @property {string[]} targets
 * @property {string} head
 * @property {string[]} labels
 * @property {number} parameters
 * @property {Record<string, Stack>} stacks
 * @property {string[]} examples
 * @property {{to: string | null, decoding: Record<string, number>}} usual what is asked for unless one asks for something else
 * @property {boolean} [recurrent]
 * @property {boolean} [trained] on this page
 */
/** @typedef {{model: string, text: string, second?: string, to?: string, write?: boolean, decoding?: Record<string, number>, edits?: string[]}} Asked */
/** @typedef {{data: Float32Array, shape: number[]}} Values */

/** What the server would not do, in its own words. */
export class Refusal extends Error {
  /** @param {{problem?: string, got?: string, expected?: string, advice?: string}} said */
  constructor(said) {
    const lines = [said.problem ?? "the server did not answer"];
    if (said.got) lines.push(`got: ${said.got}`);
    if (said.expected) lines.push(`expected: ${said.expected}`);
    if (said.advice) lines.push(`try: ${said.advice}`);
    super(lines.join("\n"));
    /** Whether it was about a run that the server has forgotten. */
    this.gone = (said.problem ?? "").includes("gone");
  }
}

/**
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(path, body, signal) {
  const options = body === undefined ? { signal } : { method: "POST", body: JSON.stringify(body), signal };
  const response = await fetch(`/api/${path}`, options);
  if (!response.ok) throw new Refusal(await response.json().catch(() => ({})));
  return response.json();
}

/** @type {Map<string, Promise<Values>>} */
const kept = new Map();
const MOST_KEPT = 400;

/**
 * The numbers of a site, or of one head or one row of it.
 * @param {string} run
 * @param {string} site
 * @param {{head?: number, row?: number, most?: number}} [options] most: at most so many rows and columns, each of a block of cells
 * @returns {Promise<Values>}
 */
export function values(run, site, { head, row, most } = {}) {
  const query = `runs/${run}/values?site=${encodeURIComponent(site)}${head === undefined ? "" : `&head=${head}`}${row === undefined ? "" : `&row=${row}`}${most === undefined ? "" : `&most=${most}`}`;
  let found = kept.get(query);
  if (!found) {
    found = fetchValues(query);
    kept.set(query, found);
    found.catch(() => kept.delete(query));
    if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  }
  return found;
}

/**
 * @param {string} query
 * @returns {Promise<Values>}
 */
async function fetchValues(query) {
  const response = await fetch(`/api/${query}`);
  if (!response.ok) throw new Refusal(await response.json().catch(() => ({})));
  const shape = (response.headers.get("X-Shape") ?? "").split(",").filter(Boolean).map(Number);
  return { data: new Float32Array(await response.arrayBuffer()), shape };
}
