// The course: chapters, the thing itself beside them, worked examples, and questions that the engine answers.

import { keep } from "../address.js";
import { ask } from "../api.js";
import { fill, h } from "../dom.js";
import { state } from "../state.js";
import { workedExample } from "./example.js";
import { liveBox } from "./live.js";

/** @typedef {{key: string, text: string, several: boolean, choices: string[]}} Question */
/** @typedef {{key: string, title: string, text: string[], examples: string[], live: import("./live.js").Live[], questions: Question[]}} Chapter */

const KEPT = "clearhead-course";
/** @type {Chapter[]} */
let chapters = [];

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
  if (!chapters.length) chapters = (await ask("course")).chapters;
  if (state.view !== "course") return;
  const chapter = chapters.find((one) => one.key === state.where.chapter) ?? chapters[0];
  const choose = (/** @type {string} */ key) => {
    keep({ chapter: key });
    courseView(place).then(() => scrollTo(0, 0));
  };
  const next = chapters[chapters.indexOf(chapter) + 1];
  const beside = chapter.live.map(liveBox);
  fill(
    place,
    h("div", { class: "title" }, h("h2", {}, "The course"), h("span", { id: "progress", class: "line quiet" }, ...standing())),
    h("div", { class: "course" },
      h("nav", { class: "chapters", "aria-label": "Chapters" }, ...chapters.map((one) => h("button", { type: "button", "data-key": one.key, "data-chapter": one.key, "aria-pressed": String(one === chapter), onclick: () => choose(one.key) }, title(one)))),
      h("article", { class: "chapter" },
        h("div", { class: beside.length ? "chapter-text" : "chapter-text full" }, h("h2", {}, `${chapter.key}. ${chapter.title}`), ...chapter.text.map((paragraph) => h("p", {}, paragraph))),
        beside.length ? h("div", {}, ...beside) : null,
        ...chapter.examples.map((key) => workedExample(key)),
        h("div", { class: "full" }, ...chapter.questions.map((one) => question(one))),
        h("p", { class: "full" }, next ? h("button", { type: "button", class: "main", onclick: () => choose(next.key) }, `Next: ${next.title}`) : "That was all. Now open a model and ask it why."),
      ),
    ),
  );
  const row = /** @type {HTMLElement} */ (place.querySelector(".chapters"));
  const chosen = /** @type {HTMLElement} */ (row.querySelector("[aria-pressed=true]"));
  row.scrollTo(chosen.offsetLeft - row.offsetLeft - 40, chosen.offsetTop - row.offsetTop - 80);
}

/** How much was answered, in words and as a bar. */
function standing() {
  const done = progress();
  const all = chapters.flatMap((one) => one.questions);
  const solved = all.filter((one) => done[one.key]).length;
  return [h("progress", { value: solved, max: all.length, "aria-label": "Questions answered rightly" }), `${solved} of ${all.length} questions answered rightly`];
}

/** @param {Chapter} chapter */
function title(chapter) {
  const done = progress();
  const whole = chapter.questions.length && chapter.questions.every((each) => done[each.key]);
  return `${chapter.key} ${chapter.title}${whole ? " ✓" : ""}`;
}

/** @param {Question} one */
function question(one) {
  const feedback = h("div", { "aria-live": "polite" });
  const inputs = one.choices.map((_, index) => /** @type {HTMLInputElement} */ (h("input", { type: one.several ? "checkbox" : "radio", name: one.key, value: index })));
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
      h("p", { class: "quiet" }, h("strong", {}, "The engine says: "), judged.shown),
    );
    const told = document.getElementById("progress");
    if (told) fill(told, ...standing());
    for (const button of document.querySelectorAll("[data-chapter]")) {
      const mine = chapters.find((each) => each.key === button.getAttribute("data-chapter"));
      if (mine) button.textContent = title(mine);
    }
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
