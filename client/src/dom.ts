/** Elements made by hand, and controls that show a signal and set it: text is always set as text, never as markup. */

import { effect, type Signal } from "@preact/signals-core";

import { minus, shorten } from "./format";

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | null>;

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const name in attributes) put(element, name, attributes[name]!);
  element.append(...children);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** What an element is to be, before it is one. */
export interface Sketch {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly inner: readonly (Sketch | string)[];
}

export function sketch(tag: string, attributes: Attributes = {}, ...inner: readonly (Sketch | string)[]): Sketch {
  return { tag, attributes, inner };
}

/** Make the children of an element what they are to be by as few changes as that takes: a drag asks for it at every step. */
export function become(parent: Element, wanted: readonly (Sketch | string)[]): void {
  wanted.forEach((one, i) => {
    const child = parent.childNodes[i];
    let now: ChildNode;
    if (typeof one === "string") {
      now = child instanceof Text ? child : document.createTextNode(one);
      if ((now as Text).data !== one) (now as Text).data = one;
    } else {
      const same = child instanceof Element && child.localName === one.tag;
      const element = same ? (child as Element) : document.createElementNS(parent.namespaceURI, one.tag);
      dress(element, one.attributes);
      become(element, one.inner);
      now = element;
    }
    if (!child) parent.append(now);
    else if (now !== child) child.replaceWith(now);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild!.remove();
}

const worn = new WeakMap<Element, Attributes>();

/** Give an element attributes, or properties of its style, and take those that it was given before; what stays is not touched. */
export function dress(element: Element, attributes: Attributes): void {
  const before = worn.get(element) ?? {};
  worn.set(element, attributes);
  for (const name in attributes) if (attributes[name] !== before[name]) put(element, name, attributes[name]!);
  for (const name in before) if (!(name in attributes)) put(element, name, null);
}

function put(element: Element, name: string, value: Attributes[string]): void {
  if (name.startsWith("--")) (element as HTMLElement).style.setProperty(name, value === null ? null : String(value));
  else if (value === null || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

export function terms(rows: readonly (readonly [string, string])[]): Sketch[] {
  return rows.map(([term, value]) => sketch("div", {}, sketch("dt", {}, term), sketch("dd", {}, value)));
}

/** Text that comes from outside, kept apart from the direction of the text around it. */
export function name(text: string, most = Infinity): HTMLElement {
  const short = shorten(text, most);
  return h("bdi", { title: short === text ? null : text }, short);
}

export function button(label: Child, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

export type Options<T extends string> = readonly (readonly [value: T, text: string])[];

export function select<T extends string>(options: Options<T>, choose: (value: T) => void, attributes: Attributes = {}): HTMLSelectElement {
  const element = h("select", attributes, ...options.map(([value, text]) => h("option", { value }, text)));
  element.addEventListener("change", () => choose(element.value as T));
  return element;
}

/** A menu that Escape closes, or going on to something else. */
export function menu(className: string, summary: HTMLElement, content: HTMLElement): HTMLDetailsElement {
  const element = h("details", { class: `menu ${className}`.trim() }, summary, content);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    event.stopPropagation();
    element.open = false;
    summary.focus();
  });
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !element.contains(relatedTarget as Node)) element.open = false;
  });
  return element;
}

/** Set text only where it changed, so that an update touches as little of the page as possible. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A table of cells, or of what is put into one. */
export function table(headings: readonly Child[], rows: Iterable<readonly Child[]>, caption = "", attributes: Attributes = {}): HTMLTableElement {
  const row = (cells: readonly Child[], make: (cell: Child) => HTMLElement): HTMLElement => h("tr", {}, ...cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : make(cell))));
  const head = h("thead", {}, row(headings, (text) => h("th", { scope: "col" }, text)));
  const body = h("tbody", {}, ...Array.from(rows, (cells) => row(cells, (text) => h("td", {}, text))));
  return h("table", attributes, ...(caption ? [h("caption", { class: "unseen" }, caption)] : []), head, body);
}

export const rowHeading = (content: Child): HTMLElement => h("th", { scope: "row" }, content);

/** A table of texts by column; `first` is the heading of the first column. */
export function textTable(rows: readonly Readonly<Record<string, string>>[], first?: string): HTMLTableElement {
  const columns = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => columns.map((column, i) => name(i ? minus(row[column] ?? "") : (row[column] ?? ""))));
  return table(columns.map((column, i) => (i ? column : (first ?? column))), cells);
}

/** A section of the page with its heading, and what stands beside that. */
export function card(id: string, className: string, heading: string | HTMLElement, tools: readonly HTMLElement[], ...children: Child[]): HTMLElement {
  const title = typeof heading === "string" ? h("h2", {}, heading) : heading;
  title.id = `${id}-title`;
  return h("section", { class: `card ${className}`.trim(), id, "aria-labelledby": title.id }, h("header", {}, title, ...tools), ...children);
}

/** A region that scrolls sideways and can be reached by keyboard. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

export function download(fileName: string, content: Blob | string, type = "text/csv"): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = h("a", { href: url, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function toggle(text: string, isOn: () => boolean, onClick: () => void, attributes: Parameters<typeof button>[2] = {}): HTMLButtonElement {
  const element = button(text, onClick, attributes);
  effect(() => element.setAttribute("aria-pressed", String(isOn())));
  return element;
}

export function switchOf(text: string, on: Signal<boolean>, attributes: Parameters<typeof button>[2] = {}): HTMLButtonElement {
  return toggle(text, () => on.value, () => (on.value = !on.value), attributes);
}

/** Buttons of which one is pressed: the one that the signal holds. */
export function choices<T extends string>(label: string, options: Options<T>, chosen: Signal<T>): HTMLElement {
  const buttons = options.map(([value, text]) => toggle(text, () => chosen.value === value, () => (chosen.value = value)));
  return h("div", { class: "choices", role: "group", "aria-label": label }, ...buttons);
}

export function selectOf<T extends string>(options: Options<T>, chosen: Signal<T>, attributes: Parameters<typeof select>[2] = {}): HTMLSelectElement {
  const element = select(options, (value) => (chosen.value = value), attributes);
  effect(() => void (element.value = chosen.value));
  return element;
}

/** A mark that explains by a tooltip, on hover, focus and tap; hidden while there is nothing to say. */
export function tooltip(text: () => string): HTMLElement {
  const bubble = h("span", { class: "bubble", "aria-hidden": "true" });
  const mark = h("button", { type: "button", class: "info" }, "i");
  const element = h("span", { class: "tooltip" }, mark, bubble);
  effect(() => {
    const said = text();
    element.hidden = !said;
    mark.setAttribute("aria-label", said);
    bubble.textContent = said;
  });
  return element;
}

/** A labelled field of a number, or of what its attributes say. */
export function entry(id: string, label: string, read: () => string, write: (text: string) => void, attributes: Parameters<typeof button>[2] = {}): HTMLElement[] {
  const input = h("input", { id, type: "number", step: "any", autocomplete: "off", ...attributes });
  return [h("label", { for: id }, label), typed(input, read, () => write(input.value))];
}

/** A field that follows what it stands for, except while the reader types in it. */
export function typed(input: HTMLInputElement, read: () => string, write: () => void): HTMLInputElement {
  const show = (): void => {
    input.setCustomValidity("");
    input.value = read();
  };
  input.addEventListener("input", write);
  input.addEventListener("change", show);
  input.addEventListener("blur", show);
  effect(() => {
    const text = read();
    if (document.activeElement !== input) input.value = text;
  });
  return input;
}
