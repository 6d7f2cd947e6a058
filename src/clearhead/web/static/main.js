// The page: what is asked for above, the view below, and the address that says both.

import { address, readAddress, writeAddress } from "./address.js";
import { Refusal, ask } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { download, saveView } from "./export.js";
import { changed, listen, rerun, state } from "./state.js";
import { complain, say } from "./status.js";
import { attentionView } from "./views/attention.js";
import { compareView } from "./views/compare.js";
import { courseView } from "./views/course.js";
import { flowView } from "./views/flow.js";
import { trainView } from "./views/train.js";
import { whatIfView } from "./views/whatif.js";
import { closeWhy, reopen, walk } from "./views/why.js";

/** @typedef {import("./api.js").Model} Model */
/** @typedef {import("./api.js").Run} Run */

/** @type {Record<string, {title: string, draw: (place: HTMLElement) => void | Promise<void>, needsRun: boolean}>} */
const VIEWS = {
  flow: { title: "Flow", draw: flowView, needsRun: true },
  attention: { title: "Attention", draw: attentionView, needsRun: true },
  whatif: { title: "What if?", draw: whatIfView, needsRun: true },
  compare: { title: "Compare", draw: compareView, needsRun: true },
  train: { title: "Train", draw: trainView, needsRun: false },
  course: { title: "Course", draw: courseView, needsRun: false },
};
const TYPING_PAUSE = 450;

/** Says what went wrong; a run that the server has forgotten is made again. @param {unknown} error */
function trouble(error) {
  complain(error);
  if (error instanceof Refusal && error.gone) run().catch(complain);
}

window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  trouble(event.reason);
});

let byTab = false;

function drawTabs() {
  const tabs = Object.entries(VIEWS).map(([key, view]) =>
    h("a", { href: address(key), "aria-current": key === state.view ? "page" : null, onclick: () => (byTab = true) }, view.title),
  );
  fill(byId("tabs"), ...tabs);
}

function draw() {
  writeAddress();
  drawTabs();
  document.title = `${VIEWS[state.view].title} · clearhead`;
  const view = VIEWS[state.view];
  const place = byId("view");
  place.dataset.view = state.view;
  if (view.needsRun && !state.run) {
    fill(place, h("p", {}, "Type a text above, and it runs here."));
    return;
  }
  Promise.resolve(view.draw(place)).catch(trouble);
}

/** @param {string} name @param {boolean} [keepText] */
async function choose(name, keepText = false) {
  say(`loading ${name} …`);
  const model = /** @type {Model} */ (await ask(`models/${encodeURIComponent(name)}`));
  const question = state.question;
  state.model = model;
  state.run = null;
  closeWhy();
  state.question = question;
  if (!keepText || !state.text) state.text = model.examples[0];
  if (!model.targets.includes(state.to)) state.to = model.targets.includes("fr") ? "fr" : (model.targets[0] ?? "");
  byId("model").value = name;
  fill(byId("to"), ...model.targets.map((one) => h("option", { value: one, selected: one === state.to }, one)));
  byId("to-label").hidden = model.targets.length === 0;
  fill(byId("examples"), h("option", { value: "" }, "Examples …"), ...model.examples.map((one) => h("option", { value: one }, one)));
  byId("text").value = state.text;
  await run();
}

/** @param {boolean} [draft] */
async function run(draft = false) {
  if (!state.model || !state.text.trim()) return;
  const begun = performance.now();
  if (!(await rerun({ draft }))) return;
  const made = /** @type {Run} */ (state.run);
  const tokens = made.source.length + made.target.length;
  const took = Math.round(performance.now() - begun);
  say(draft ? `${tokens} tokens, a draft in ${took} ms` : `${tokens} tokens, ${Object.keys(made.sites).length} sites recorded in ${took} ms`);
  if (!draft && state.question) await reopen(state.question).catch(() => closeWhy());
}

/** The run and all that was asked of it, as one file that opens without this server. */
async function saveWalk() {
  const made = state.run;
  if (!made) return;
  const response = await fetch(`/api/runs/${made.run}/walk`, { method: "POST", body: JSON.stringify({ questions: walk() }) });
  if (!response.ok) throw new Error("the walk could not be saved");
  download(await response.blob(), "walk.html");
}

function listenToForm() {
  byId("save").addEventListener("click", () => saveWalk().catch(complain));
  byId("as-svg").addEventListener("click", () => saveView("svg").catch(complain));
  byId("as-png").addEventListener("click", () => saveView("png").catch(complain));
  let timer = 0;
  byId("ask").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    clearTimeout(timer);
    state.text = byId("text").value;
    run().catch(complain);
  });
  byId("text").addEventListener("input", () => {
    state.text = byId("text").value;
    clearTimeout(timer);
    run(true).catch(complain);
    timer = setTimeout(() => run().catch(complain), TYPING_PAUSE);
  });
  byId("model").addEventListener("change", () => choose(byId("model").value).catch(complain));
  byId("to").addEventListener("change", () => {
    state.to = byId("to").value;
    run().catch(complain);
  });
  byId("examples").addEventListener("change", () => {
    if (!byId("examples").value) return;
    state.text = byId("text").value = byId("examples").value;
    byId("examples").value = "";
    run().catch(complain);
  });
  window.addEventListener("hashchange", () => follow().catch(complain));
}

/** Goes where the address says: another view, another text, another model. */
async function follow() {
  const before = { text: state.text, to: state.to };
  const wanted = readAddress(VIEWS);
  if (wanted && wanted !== state.model?.name && state.names.includes(wanted)) await choose(wanted, true);
  else if (state.text !== before.text || state.to !== before.to) {
    byId("text").value = state.text;
    byId("to").value = state.to;
    await run();
  } else draw();
  if (!VIEWS[state.view].needsRun) draw();
  if (byTab) byId("view").focus({ preventScroll: true });
  byTab = false;
}

/** Asks which models there are: those that the server began with, and those that were trained here. */
async function learnNames() {
  const { models } = await ask("models");
  state.names = models;
  fill(byId("model"), ...models.map((/** @type {string} */ name) => h("option", { value: name, selected: name === state.model?.name }, name)));
}

async function begin() {
  const [, legend] = await Promise.all([learnNames(), ask("legend")]);
  const wanted = readAddress(VIEWS);
  state.axes = legend.axes;
  state.ramp = legend.ramp;
  listen(() => {
    if (VIEWS[state.view].needsRun) return draw();
    writeAddress();
    drawTabs();
  });
  listenToForm();
  document.addEventListener("clearhead-models", () => learnNames().catch(complain));
  drawTabs();
  const names = state.names;
  if (!names.length) {
    say("there is no model here\ntry: clearhead explain FOLDER", true);
    changed();
    return;
  }
  if (!VIEWS[state.view].needsRun) draw();
  const first = names.includes(wanted ?? "") ? /** @type {string} */ (wanted) : names.includes("translator") ? "translator" : names[0];
  await choose(first, state.text !== "");
}

begin().catch(complain);
