/** Charts as SVG and PNG, tables as CSV. */

import { s } from "../dom";
import type { Palette } from "../palette";

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

export async function pngOf(svg: string, size: { width: number; height: number }, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = size.width * scale;
  canvas.height = size.height * scale;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png");
  });
}

export type Cell = string | number | null;

/** CSV (RFC 4180); text that a spreadsheet would run as a formula is quoted with an apostrophe. */
export function csvOf(columns: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [columns.map(csvCell).join(",")];
  for (const row of rows) lines.push(row.map(csvCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null || (typeof cell === "number" && Number.isNaN(cell))) return "";
  if (typeof cell === "number") return cell === Infinity ? "inf" : cell === -Infinity ? "-inf" : String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function fileName(...parts: readonly string[]): string {
  const text = parts.filter(Boolean).join("-").toLowerCase();
  return text.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 80) || "report";
}
