// What temperature, top-k and top-p make of logits: the same rules that the engine draws by.

/**
 * The shares of the ids that may still be drawn.
 * @param {Float32Array} logits
 * @param {{temperature: number, top_k: number, top_p: number}} settings
 * @returns {Map<number, number>}
 */
export function drawn(logits, settings) {
  let ids = Array.from(logits.keys());
  if (settings.temperature <= 0) {
    const best = ids.reduce((most, id) => (logits[id] > logits[most] ? id : most), 0);
    return new Map([[best, 1]]);
  }
  ids.sort((a, b) => logits[b] - logits[a]);
  if (settings.top_k > 0) ids = ids.slice(0, settings.top_k);
  const top = logits[ids[0]];
  const powers = ids.map((id) => Math.exp((logits[id] - top) / settings.temperature));
  const total = powers.reduce((sum, power) => sum + power, 0);
  let before = 0;
  let kept = 0;
  const some = ids.filter((_, place) => {
    const stays = place === 0 || before < settings.top_p;
    before += powers[place] / total;
    if (stays) kept += powers[place];
    return stays;
  });
  return new Map(some.map((id, place) => [id, powers[place] / kept]));
}
