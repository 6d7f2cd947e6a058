// The page: what is asked for above, the view below, and the address that says both.

import { ask } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { changed, listen, rerun, state } from "./state.js";
import { closeWhy, walk } from "./views/why.js";
import { attentionView } from "./views/attention.js";
import { compareView } from "./views/compare.js";
import { courseView } from "./views/course.js";
import { flowView } from "./views/flow.js";
import { trainView } from "./views/train.js";
import { whatIfView } from "./views/whatif.js";

/** @type {Record<string, {title: string, draw: (place: HTMLElement) => void, needsRun: boolean}>} */
const VIEWS = {
  flow: { title: "Flow", draw: flowView, needsRun: true },
  attention: { title: "Attention", draw: attentionView, needsRun: true },
  whatif: { title: "What if?", draw: whatIfView, needsRun: true },
  compare: { title: "Compare", draw: compareView, needsRun: true },
  train: { title: "Train", draw: trainView, needsRun: false },
  course: { title: "Course", draw: courseView, needsRun: false },
};
const TYPING_PAUSE = 120;

/** @param {string} text @param {boolean} [isError] */
export function say(text, isError = false) {
  const place = byId("status");
  place.textContent = text;
  place.classList.toggle("error", isError);
}

/** @param {unknown} error */
export function complain(error) {
  say(error instanceof Error ? error.message : String(error), true);
}

window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  complain(event.reason);
});

function readAddress() {
  const [view, query] = location.hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query ?? "");
  if (view && view in VIEWS) state.view = view;
  if (given.has("text")) state.text = /** @type {string} */ (given.get("text"));
  if (given.has("to")) state.to = /** @type {string} */ (given.get("to"));
  if (given.has("step")) state.step = Number(given.get("step")) || 0;
  return given.get("model");
}

function writeAddress() {
  const given = new URLSearchParams();
  if (state.model) given.set("model", state.model.name);
  if (state.text) given.set("text", state.text);
  if (state.to) given.set("to", state.to);
  if (state.step) given.set("step", String(state.step));
  history.replaceState(null, "", `#/${state.view}?${given}`);
}

function drawTabs() {
  const tabs = Object.entries(VIEWS).map(([key, view]) =>
    h("a", { href: `#/${key}`, "aria-current": key === state.view ? "page" : null, onclick: (/** @type {Event} */ event) => show(event, key) }, view.title),
  );
  fill(byId("tabs"), ...tabs);
}

/** @param {Event} event @param {string} view */
function show(event, view) {
  event.preventDefault();
  state.view = view;
  draw();
  byId("view").focus();
}

function draw() {
  drawTabs();
  writeAddress();
  const view = VIEWS[state.view];
  const place = byId("view");
  if (view.needsRun && !state.run) {
    fill(place, h("p", {}, "Type a text above, and it runs here."));
    return;
  }
  view.draw(place);
}

/** @param {string} name @param {boolean} [keepText] */
async function choose(name, keepText = false) {
  say(`loading ${name} …`);
  const model = /** @type {import("./api.js").Model} */ (await ask(`models/${encodeURIComponent(name)}`));
  state.model = model;
  state.run = null;
  closeWhy();
  if (!keepText || !state.text) state.text = model.examples[0];
  if (!model.targets.includes(state.to)) state.to = model.targets.includes("fr") ? "fr" : (model.targets[0] ?? "");
  byId("model").value = name;
  fill(byId("to"), ...model.targets.map((one) => h("option", { value: one, selected: one === state.to }, one)));
  byId("to-label").hidden = model.targets.length === 0;
  fill(byId("examples"), h("option", { value: "" }, "Examples …"), ...model.examples.map((one) => h("option", { value: one }, one)));
  byId("text").value = state.text;
  await run();
}

async function run() {
  if (!state.model || !state.text) return;
  const begun = performance.now();
  if (await rerun()) {
    const run = /** @type {import("./api.js").Run} */ (state.run);
    const tokens = run.source.length + run.target.length;
    say(`${tokens} tokens, ${Object.keys(run.sites).length} sites recorded in ${Math.round(performance.now() - begun)} ms`);
  }
}

/** The run and all that was asked of it, as one file that opens without this server. */
async function saveWalk() {
  const run = state.run;
  if (!run) return;
  const response = await fetch(`/api/runs/${run.run}/walk`, { method: "POST", body: JSON.stringify({ questions: walk() }) });
  if (!response.ok) throw new Error("the walk could not be saved");
  const address = URL.createObjectURL(await response.blob());
  const link = /** @type {HTMLAnchorElement} */ (h("a", { href: address, download: "walk.html" }));
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(address);
}

function listenToForm() {
  byId("save").addEventListener("click", () => saveWalk().catch(complain));
  let timer = 0;
  byId("ask").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    run().catch(complain);
  });
  byId("text").addEventListener("input", () => {
    state.text = byId("text").value;
    clearTimeout(timer);
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
  window.addEventListener("hashchange", () => {
    const wanted = readAddress();
    if (wanted && wanted !== state.model?.name) choose(wanted, true).catch(complain);
    else draw();
  });
}

async function begin() {
  const wanted = readAddress();
  const [{ models }, legend] = await Promise.all([ask("models"), ask("legend")]);
  state.names = models;
  state.axes = legend.axes;
  state.ramp = legend.ramp;
  fill(byId("model"), ...models.map((/** @type {string} */ name) => h("option", { value: name }, name)));
  listen(draw);
  listenToForm();
  drawTabs();
  if (!models.length) {
    say("there is no model here\ntry: clearhead explain FOLDER", true);
    changed();
    return;
  }
  const first = models.includes(wanted ?? "") ? /** @type {string} */ (wanted) : models.includes("translator") ? "translator" : models[0];
  await choose(first, state.text !== "");
}

begin().catch(complain);
