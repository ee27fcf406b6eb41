/** What the page has to save: charts as SVG and PNG, tables as CSV, and the menu for them. */

import { effect, signal } from "@preact/signals-core";

import { button, download, h, menu, s, switchOf } from "../dom";
import { fileName } from "../format";
import type { Palette } from "../palette";
import type { State } from "../state/state";

export const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';

export function svgFile(title: string, size: { width: number; height: number }, palette: Palette, layers: readonly SVGElement[]): string {
  const { width, height } = size;
  const root = s(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT },
    s("title", {}, title),
    s("rect", { width, height, fill: palette.halo }),
    ...layers,
  );
  return new XMLSerializer().serializeToString(root);
}

export async function pngOf(svg: string, { width, height }: { width: number; height: number }): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(2 * width, 2 * height);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob();
}

export interface Saved {
  readonly title: () => string;
  readonly csv: () => string;
  readonly svg?: () => string;
  readonly png?: () => Promise<Blob>;
}

export const withData = signal(false);

/** By the id of its card: what the page has, for its one menu. */
export const offers = new Map<string, Saved>();

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
