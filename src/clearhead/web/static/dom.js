// Elements from code: text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An HTML element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] properties beginning with "on" are listeners; "style" is an object
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  dress(element, attributes);
  element.append(...nodes(children));
  return element;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, attributes = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  dress(element, attributes);
  element.append(...nodes(children));
  return element;
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {Record<string, any>} attributes
 */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** What had the keyboard when its place was filled anew. @type {{mark: string, place: number, when: number} | null} */
let lost = null;
const LOST_FOR = 2000;

/**
 * What an element is to those who use the keyboard: the same thing drawn again has the same mark.
 * @param {Element} element
 */
function mark(element) {
  const said = element.getAttribute("data-key") ?? element.getAttribute("aria-label") ?? element.textContent?.slice(0, 40) ?? "";
  return `${element.tagName} ${element.id} ${said}`;
}

/**
 * Puts new children in the place of the old; what is nothing is left out. The keyboard stays where it was.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const active = document.activeElement;
  if (active && active !== element && element.contains(active)) {
    const same = [...element.querySelectorAll(active.tagName)].filter((one) => mark(one) === mark(active));
    lost = { mark: mark(active), place: same.indexOf(active), when: performance.now() };
  }
  element.replaceChildren(...nodes(children));
  if (!lost) return;
  if (performance.now() - lost.when > LOST_FOR || (document.activeElement && document.activeElement !== document.body)) {
    lost = null;
    return;
  }
  const wanted = lost;
  const tag = wanted.mark.split(" ")[0];
  const again = [...element.querySelectorAll(tag)].filter((one) => mark(one) === wanted.mark);
  const found = /** @type {HTMLElement | undefined} */ (again[Math.min(wanted.place, again.length - 1)]);
  if (!found) return;
  lost = null;
  found.focus({ preventScroll: true });
}

/**
 * The element with an id, which the page has.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no #${id} in the page`);
  return element;
}

/**
 * A number in few characters.
 * @param {number} value
 * @param {number} [digits]
 */
export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}
