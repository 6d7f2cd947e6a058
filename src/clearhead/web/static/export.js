// Any view as a picture: what is on the page now, in one file that needs nothing else.

import { byId } from "./dom.js";
import { state } from "./state.js";

const SVG = "http://www.w3.org/2000/svg";
const SHEETS = ["style.css", "views.css"];

/**
 * Gives a file to whoever sits before the page.
 * @param {Blob} content
 * @param {string} name
 */
export function download(content, name) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** @param {"svg" | "png"} kind */
export async function saveView(kind) {
  const name = `${state.view}.${kind}`;
  const { text, wide, high } = await picture();
  if (kind === "svg") {
    download(new Blob([text], { type: "image/svg+xml" }), name);
    return;
  }
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.max(1, Math.min(2, 8000 / high));
  canvas.width = wide * scale;
  canvas.height = high * scale;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(scale, scale);
  context.drawImage(image, 0, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob instanceof Blob) download(blob, name);
}

/** The view, and the number that is open beside it, drawn into one SVG. */
async function picture() {
  const page = byId("page");
  const wide = Math.ceil(page.scrollWidth);
  const aside = byId("why");
  const high = Math.ceil(Math.max(byId("view").scrollHeight, aside.hidden ? 0 : aside.scrollHeight)) + 24;
  const copy = frozen(page);
  const sheets = await Promise.all(SHEETS.map(async (name) => (await fetch(`/static/${name}`)).text()));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const look = getComputedStyle(document.body);
  const style = document.createElement("style");
  style.textContent = `${sheets.map((sheet) => settled(sheet, dark)).join("\n")}\naside { position: static !important; max-height: none !important; }`;
  const body = document.createElement("div");
  body.className = "exported";
  // The page's policy forbids style attributes that are written as text; set as properties they are allowed.
  body.style.cssText = `font: ${look.font}; color: ${look.color}; background: ${look.backgroundColor}; width: ${wide}px; min-height: ${high}px; padding-top: 12px;`;
  body.append(style, copy);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", String(wide));
  svg.setAttribute("height", String(high));
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  const frame = document.createElementNS(SVG, "foreignObject");
  frame.setAttribute("width", String(wide));
  frame.setAttribute("height", String(high));
  frame.append(body);
  svg.append(frame);
  // A model may write anything; these characters no XML file can hold.
  const text = new XMLSerializer().serializeToString(svg).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  return { text, wide, high };
}

/**
 * A copy whose canvases are pictures and whose fields hold what was typed.
 * @param {HTMLElement} element
 */
function frozen(element) {
  const copy = /** @type {HTMLElement} */ (element.cloneNode(true));
  const drawn = element.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((canvas, place) => {
    const image = document.createElement("img");
    image.src = drawn[place].toDataURL();
    image.alt = canvas.getAttribute("aria-label") ?? "";
    image.style.cssText = /** @type {HTMLElement} */ (canvas).style.cssText;
    canvas.replaceWith(image);
  });
  const fields = element.querySelectorAll("input, select, textarea");
  copy.querySelectorAll("input, select, textarea").forEach((field, place) => {
    const now = /** @type {HTMLInputElement} */ (fields[place]);
    if (field instanceof HTMLInputElement) {
      field.setAttribute("value", now.value);
      field.toggleAttribute("checked", now.checked);
    } else if (field instanceof HTMLTextAreaElement) field.textContent = now.value;
    else for (const option of field.querySelectorAll("option")) option.toggleAttribute("selected", option.value === now.value);
  });
  return copy;
}

/**
 * A style sheet for the scheme that is shown now, whatever the reader of the file prefers.
 * @param {string} sheet
 * @param {boolean} dark
 */
function settled(sheet, dark) {
  return sheet.replaceAll("(prefers-color-scheme: dark)", dark ? "all" : "not all");
}
