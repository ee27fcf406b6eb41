/** Controls that show a signal and set it. */

import { effect, type Signal } from "@preact/signals-core";

import { button, h, type Options, select } from "./dom";

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
