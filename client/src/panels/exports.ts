/** The one menu to take something from the page: its link, its charts and tables as files, their data on the page. */

import { effect } from "@preact/signals-core";

import { fileName } from "../chart/export";
import { offers, type Saved, withData } from "../chart/offers";
import { button, download, h, menu } from "../dom";
import { switchOf } from "../inputs";
import type { State } from "../state/state";

const TYPES = { svg: "image/svg+xml", png: "image/png", csv: "text/csv" } as const;

export function exportMenu({ report }: State, link: HTMLElement): HTMLElement {
  const rows = h("div", { class: "offers" });
  const data = switchOf("Notes and data below the charts", withData);
  effect(() => void document.body.classList.toggle("with-data", withData.value));
  const element = menu("export", h("summary", {}, "Export"), h("div", {}, link, data, rows));
  element.addEventListener("toggle", () => element.open && rows.replaceChildren(...[...offers].flatMap(([id, saved]) => rowOf(report.title, id, saved))));
  return element;
}

function rowOf(report: string, id: string, saved: Saved): HTMLElement[] {
  const title = saved.title();
  const buttons = (Object.keys(TYPES) as (keyof typeof TYPES)[]).map((type) => {
    const make = saved[type];
    if (!make) return h("span");
    const save = async (): Promise<void> => download(`${fileName(saved.svg ? title : report, saved.svg ? "" : id)}.${type}`, await make(), TYPES[type]);
    return button(type.toUpperCase(), () => void save(), { "data-of": id, "aria-label": `Save ${title} as ${type.toUpperCase()}` });
  });
  return [h("span", {}, title), ...buttons];
}
