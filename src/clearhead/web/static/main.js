// The page: what is asked for above, the view below, and the address that says both.

import { address, readAddress, writeAddress } from "./address.js";
import { Refusal, ask } from "./api.js";
import { byId, fill, h } from "./dom.js";
import { changed, listen, rerun, show, state, underWay } from "./state.js";
import { complain, say } from "./status.js";
import { flowView } from "./views/flow.js";
import { closeWhy, refresh, walk } from "./views/why.js";

/** @typedef {import("./api.js").Model} Model */
/** @typedef {import("./api.js").Run} Run */

/** @typedef {(place: HTMLElement) => void | Promise<void>} Draw */

/** The views; what the first of them does not need is fetched once it stands. @type {Record<string, {title: string, load: () => Promise<Draw>, needsRun: boolean}>} */
const VIEWS = {
  flow: { title: "Flow", load: async () => flowView, needsRun: true },
  attention: { title: "Attention", load: async () => (await import("./views/attention.js")).attentionView, needsRun: true },
  whatif: { title: "What if?", load: async () => (await import("./views/whatif.js")).whatIfView, needsRun: true },
  compare: { title: "Compare", load: async () => (await import("./views/compare.js")).compareView, needsRun: true },
  train: { title: "Train", load: async () => (await import("./views/train.js")).trainView, needsRun: false },
  course: { title: "Course", load: async () => (await import("./views/course.js")).courseView, needsRun: false },
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

/** The tabs stay the same elements, so that a click that has begun on one is not lost. */
function drawTabs() {
  const place = byId("tabs");
  if (!place.childElementCount) fill(place, ...Object.values(VIEWS).map((view) => h("a", {}, view.title)));
  Object.keys(VIEWS).forEach((key, index) => {
    const tab = place.children[index];
    tab.setAttribute("href", address(key));
    if (key === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  });
}

/** What is still seen of the view that one left, or of the model, takes no clicks: the next comes in its place. */
function leave() {
  for (const left of byId("view").children) left.inert = true;
}

let drawings = 0;

function draw() {
  const mine = ++drawings;
  writeAddress();
  drawTabs();
  document.title = `${VIEWS[state.view].title} · clearhead`;
  const view = VIEWS[state.view];
  const place = byId("view");
  place.dataset.view = state.view;
  if (view.needsRun && !state.run) {
    fill(place, h("p", {}, underWay() ? "running …" : "Type a text above, and it runs here."));
    place.setAttribute("aria-busy", "false");
    return;
  }
  place.setAttribute("aria-busy", "true");
  drawView(view, place)
    .catch(trouble)
    .finally(() => mine === drawings && place.setAttribute("aria-busy", "false"));
}

/** @param {{load: () => Promise<Draw>}} view @param {HTMLElement} place */
async function drawView(view, place) {
  const draws = await view.load();
  if (VIEWS[state.view] === view) await draws(place);
}

let choosing = 0;

/** Of two models that were chosen, the later is shown, whichever is there first. @param {string} name @param {boolean} [keepText] @param {{model: Model, run: Run} | null} [ready] what was made before it was asked for */
async function choose(name, keepText = false, ready = null) {
  const mine = ++choosing;
  if (!ready) say(`loading ${name} …`);
  const model = ready?.model ?? /** @type {Model} */ (await ask(`models/${encodeURIComponent(name)}`));
  if (mine !== choosing) return;
  const question = state.question;
  state.model = model;
  state.run = null;
  if (VIEWS[state.view].needsRun) leave();
  closeWhy();
  state.question = question;
  if (!keepText || !state.text) state.text = model.examples[0];
  if (!model.targets.includes(state.to)) state.to = model.usual.to ?? "";
  byId("model").value = name;
  fill(byId("to"), ...model.targets.map((one) => h("option", { value: one, selected: one === state.to }, one)));
  byId("to-label").hidden = model.targets.length === 0;
  fill(byId("examples"), h("option", { value: "" }, "Examples …"), ...model.examples.map((one) => h("option", { value: one }, one)));
  byId("text").value = state.text;
  const same = ready && state.text === model.examples[0] && state.to === (model.usual.to ?? "");
  try {
    await run(false, same ? ready.run : null);
  } catch (error) {
    if (!state.run && VIEWS[state.view].needsRun) draw();
    throw error;
  }
}

/** @param {boolean} [draft] @param {Run | null} [ready] */
async function run(draft = false, ready = null) {
  if (!state.model || !state.text.trim()) return;
  const begun = performance.now();
  if (ready) show(ready);
  else if (!(await rerun({ draft }))) return;
  const made = /** @type {Run} */ (state.run);
  const tokens = made.source.length + made.target.length;
  const took = Math.round(performance.now() - begun);
  const sites = `${tokens} tokens, ${Object.keys(made.sites).length} sites recorded`;
  say(draft ? `${tokens} tokens, a draft in ${took} ms` : ready ? sites : `${sites} in ${took} ms`);
  if (!draft) await refresh();
}

/** The run and all that was asked of it, as one file that opens without this server. */
async function saveWalk() {
  const made = state.run;
  if (!made) return;
  const { download } = await import("./export.js");
  const response = await fetch(`/api/runs/${made.run}/walk`, { method: "POST", body: JSON.stringify({ questions: walk() }) });
  if (!response.ok) throw new Error("the walk could not be saved");
  download(await response.blob(), "walk.html");
}

/** @param {"svg" | "png"} kind */
async function savePicture(kind) {
  await (await import("./export.js")).saveView(kind);
}

function listenToForm() {
  byId("save").addEventListener("click", () => saveWalk().catch(complain));
  byId("as-svg").addEventListener("click", () => savePicture("svg").catch(complain));
  byId("as-png").addEventListener("click", () => savePicture("png").catch(complain));
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
  document.addEventListener("click", followLink);
}

/** A link of the page is followed at once: by the time the browser says that the address has changed, something else may have been clicked. @param {MouseEvent} event */
function followLink(event) {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#/']") : null;
  const aside = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  const tab = link ? [...byId("tabs").children].indexOf(link) : -1;
  const byTab = tab >= 0; // which leads to another view of what is asked for by now, also while that is on its way
  const wanted = byTab ? address(Object.keys(VIEWS)[tab]) : link?.getAttribute("href");
  if (!wanted || aside || wanted === location.hash) return;
  event.preventDefault();
  history.pushState(null, "", wanted);
  follow().then(() => byTab && byId("view").focus({ preventScroll: true })).catch(complain);
}

let following = 0;

/** Goes where the address says: another view, another text, another model, another number. */
async function follow() {
  const mine = ++following;
  const drawn = drawings;
  const before = { text: state.text, to: state.to, view: state.view, question: state.question };
  const wanted = readAddress(VIEWS);
  if (state.view !== before.view) leave();
  const same = state.text === before.text && state.to === before.to;
  const other = wanted !== null && wanted !== state.model?.name;
  if (!state.question && (other || !same)) closeWhy();
  else state.question ||= before.question; // the pane stays open beside another view of the same run
  try {
    if (other && !state.names.includes(wanted)) showNames((await ask("models")).models); // trained a moment ago
    if (mine !== following) return;
    if (other && state.names.includes(wanted)) await choose(wanted, true);
    else if (!same) {
      byId("text").value = state.text;
      byId("to").value = state.to;
      await run();
    } else if (state.question !== before.question) refresh();
  } finally {
    if (mine === following && drawn === drawings) draw();
  }
}

/** @param {string[]} names */
function showNames(names) {
  state.names = names;
  fill(byId("model"), ...names.map((name) => h("option", { value: name, selected: name === state.model?.name }, name)));
}

/** What was not needed for the first view: there before one asks for it, and without the server if that ends. */
function fetchTheRest() {
  const fetch = () => Promise.all([import("./export.js"), ...Object.values(VIEWS).map((view) => view.load())]).catch(complain);
  if ("requestIdleCallback" in window) requestIdleCallback(fetch, { timeout: 3000 });
  else setTimeout(fetch, 500);
}

async function begin() {
  const start = await ask("start");
  const wanted = readAddress(VIEWS);
  state.axes = start.axes;
  state.ramp = start.ramp;
  showNames(start.models);
  listen(() => {
    if (VIEWS[state.view].needsRun) return draw();
    writeAddress();
    drawTabs();
  });
  listenToForm();
  document.addEventListener("clearhead-models", async () => showNames((await ask("models")).models));
  drawTabs();
  if (!start.first) {
    say("there is no model here\ntry: clearhead explain FOLDER", true);
    changed();
    return;
  }
  if (!VIEWS[state.view].needsRun) draw();
  const first = wanted && state.names.includes(wanted) ? wanted : start.first;
  await choose(first, state.text !== "", start.ready?.model.name === first ? start.ready : null);
  fetchTheRest();
}

begin().catch(complain);
