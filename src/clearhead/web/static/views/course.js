// The course: chapters, the thing itself beside them, worked examples, and questions that the engine answers.

import { ask } from "../api.js";
import { fill, h, short } from "../dom.js";

/** @typedef {{name: string, computed: any, printed: any, agrees: boolean | null, remark: string, rows: string[], columns: string[], digits: number}} Result */
/** @typedef {{key: string, title: string, shows: string, results: Result[], figures: Record<string, string>}} Example */
/** @typedef {{key: string, text: string, several: boolean, choices: string[]}} Question */
/** @typedef {{key: string, title: string, text: string[], examples: string[], live: {view: string, says: string, settings: Record<string, string>}[], questions: Question[]}} Chapter */

const KEPT = "clearhead-course";
let open = "";

/** @returns {Record<string, boolean>} */
function progress() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {string} key @param {boolean} right */
function remember(key, right) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...progress(), [key]: right }));
  } catch {
    // A browser that keeps nothing still teaches.
  }
}

/** @param {HTMLElement} place */
export async function courseView(place) {
  const { chapters } = /** @type {{chapters: Chapter[]}} */ (await ask("course"));
  const chapter = chapters.find((one) => one.key === open) ?? chapters[0];
  open = chapter.key;
  const done = progress();
  const all = chapters.flatMap((one) => one.questions);
  const solved = all.filter((one) => done[one.key]).length;
  const choose = (/** @type {string} */ key) => {
    open = key;
    courseView(place);
  };
  const next = chapters[chapters.indexOf(chapter) + 1];
  fill(
    place,
    h("h2", {}, "The course"),
    h("p", { class: "quiet", id: "progress" }, `${solved} of ${all.length} questions answered rightly`),
    h("div", { class: "columns" },
      h("nav", { class: "chapters", "aria-label": "Chapters" }, ...chapters.map((one) => h("button", { type: "button", "aria-pressed": String(one === chapter), onclick: () => choose(one.key) }, `${one.key} ${one.title}${one.questions.length && one.questions.every((each) => done[each.key]) ? " ✓" : ""}`))),
      h("article", { class: "zoom" },
        h("h2", {}, `${chapter.key}. ${chapter.title}`),
        ...chapter.text.map((paragraph) => h("p", {}, paragraph)),
        ...chapter.live.map((live) => h("p", { class: "panel" }, h("a", { href: `#/${live.view}?${new URLSearchParams(live.settings)}` }, "See it live: "), live.says)),
        ...chapter.examples.map((key) => workedExample(key)),
        ...chapter.questions.map((one) => question(one, place)),
        next ? h("button", { type: "button", class: "main", onclick: () => choose(next.key) }, `Next: ${next.title}`) : h("p", {}, "That was all. Now open a model and ask it why."),
      ),
    ),
  );
}

/** @param {string} key */
function workedExample(key) {
  const details = /** @type {HTMLDetailsElement} */ (h("details", { class: "panel" }, h("summary", {}, `Worked example ${key}`)));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const example = /** @type {Example} */ (await ask(`examples/${key}`));
    details.append(h("p", {}, `${example.title}. ${example.shows}`), ...example.results.map(result), ...Object.entries(example.figures).map(([name, svg]) => h("figure", { class: "scroll" }, h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: name }))));
  });
  return details;
}

/** @param {Question} one @param {HTMLElement} place */
function question(one, place) {
  const feedback = h("div", { "aria-live": "polite" });
  const inputs = one.choices.map((choice, index) => /** @type {HTMLInputElement} */ (h("input", { type: one.several ? "checkbox" : "radio", name: one.key, value: index })));
  const check = async () => {
    const chosen = inputs.flatMap((input, index) => (input.checked ? [index] : []));
    if (!chosen.length) {
      fill(feedback, h("p", {}, "Choose an answer first."));
      return;
    }
    const judged = /** @type {{right: boolean, choices: {right: boolean, because: string}[], shown: string}} */ (await ask(`course/${one.key}/answer`, { chosen }));
    remember(one.key, judged.right);
    const said = judged.choices.flatMap((choice, index) => ((choice.right || chosen.includes(index)) && choice.because ? [`${one.choices[index]}: ${choice.because}`] : []));
    const missed = one.choices.filter((_, index) => judged.choices[index].right && !chosen.includes(index));
    fill(
      feedback,
      h("p", { class: judged.right ? "good" : "bad" }, judged.right ? "Right." : `Not quite.${missed.length ? ` Right is: ${missed.join("; ")}.` : ""}`),
      ...said.map((text) => h("p", {}, text)),
      h("p", { class: "panel" }, "The engine says: ", judged.shown),
    );
    const all = document.getElementById("progress");
    if (all) all.textContent = `${Object.values(progress()).filter(Boolean).length} answered rightly so far`;
  };
  return h(
    "fieldset",
    { class: "panel", "data-question": one.key },
    h("legend", {}, one.text),
    one.several ? h("p", { class: "quiet" }, "More than one answer is right.") : null,
    ...one.choices.map((choice, index) => h("label", { class: "choice" }, inputs[index], " ", choice)),
    h("button", { type: "button", onclick: check }, "Check"),
    feedback,
  );
}

/** @param {Result} one */
function result(one) {
  return h(
    "section",
    {},
    h("h3", {}, one.name),
    value(one.computed, one),
    one.printed === null ? null : h("div", {}, h("p", { class: one.agrees ? "good" : "bad" }, one.agrees ? "the notes print the same" : "the notes print another number:"), one.agrees ? null : value(one.printed, one)),
    one.remark ? h("p", { class: "quiet" }, one.remark) : null,
  );
}

/** @param {any} found @param {Result} one */
function value(found, one) {
  if (!Array.isArray(found)) return h("p", { class: "number" }, typeof found === "number" ? short(found, 7) : String(found));
  const rows = Array.isArray(found[0]) ? found : [found];
  const head = one.columns.length ? h("tr", {}, one.rows.length ? h("td", {}) : null, ...one.columns.map((name) => h("th", { scope: "col" }, name))) : null;
  return h("div", { class: "scroll", tabindex: 0 }, h("table", {}, head, ...rows.map((row, place) => h("tr", {}, one.rows.length ? h("th", { scope: "row" }, one.rows[place] ?? "") : null, ...row.map((/** @type {number} */ cell) => h("td", {}, typeof cell === "number" ? cell.toFixed(Math.min(one.digits, 6)) : String(cell)))))));
}
