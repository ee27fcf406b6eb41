/** Numbers in words: one place for how many digits are shown. */

type Format = (value: number) => string;

/** English digits in any browser, with a minus sign rather than a hyphen, and none before 0. */
function formatter(options: Intl.NumberFormatOptions): Format {
  const { format } = new Intl.NumberFormat("en", { signDisplay: "negative", ...options });
  return (value) => format(value).replace("-", "−");
}

const digits = (most: number): Format => formatter({ maximumSignificantDigits: most });
const percents = (places: number): Format =>
  formatter({ style: "percent", minimumFractionDigits: places, maximumFractionDigits: places });

const grouped = formatter({ maximumFractionDigits: 0 });
const four = digits(4);
const three = digits(3);
const percent1 = percents(1);
const percent2 = percents(2);

/** Without what sums leave behind in the last digits. */
const tidy = (value: number): number => Math.round(value * 1e12) / 1e12;

export function count(cases: number): string {
  const value = tidy(cases);
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return grouped(value);
  return Math.abs(value) >= 10 ? value.toFixed(1) : three(value);
}

export function number(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 10000) return grouped(value);
  return size !== 0 && size < 1e-4 ? Number(value.toPrecision(3)).toExponential().replace(/^-/, "−") : four(value);
}

export function percent(share: number): string {
  const value = tidy(share);
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value === 0 || value === 1) return `${value * 100}%`;
  if (size < 0.0005) return `${number(value * 100)}%`;
  return size < 0.1 || (size > 0.99 && size < 1) ? percent2(value) : percent1(value);
}

export function fixed(value: number | null | undefined, digits = 3): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits).replace("-", "−");
}

/** Numbers that Python wrote, with the minus sign that all others here have. */
export const minus = (text: string): string => text.replace(/(^|[ [])-(?=\d)/g, "$1−");

/** The shortest decimal of at least four digits that decides as a threshold does: the twin of `threshold_text`, which tells why. */
export function shortest(threshold: number, next: number): string {
  if (!Number.isFinite(threshold)) return number(threshold);
  const isNarrow = (value: number): boolean => Math.fround(value) === value;
  const lowest = Number.isNaN(next) ? -Infinity : next;
  const narrow = isNarrow(threshold) && isNarrow(lowest);
  const decides = (value: number): boolean =>
    value <= threshold && value > lowest && !(narrow && Math.fround(value) <= lowest) && (!Number.isNaN(next) || (narrow ? Math.fround(value) : value) === threshold);
  for (let places = Math.max(4, String(Math.trunc(Math.abs(threshold))).length); places < 17; places++) {
    const nearest = threshold.toExponential(places - 1);
    if (decides(Number(nearest))) return String(Number(nearest));
    const [mantissa = "0", exponent = "0"] = nearest.split("e");
    const lower = Number(`${BigInt(mantissa.replace(".", "")) - 1n}e${Number(exponent) - places + 1}`); // where the nearest is above
    if (decides(lower)) return String(lower);
  }
  return String(threshold);
}

/** Axis labels: short, with k and M for thousands and millions. */
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${three(value / 1e9)}G`;
  if (size >= 1e6) return `${three(value / 1e6)}M`;
  if (size >= 1e4) return `${three(value / 1e3)}k`;
  return size >= 1e3 ? grouped(value) : three(value);
}

export const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A simulated probability, which is never exactly 0 or 1. */
export const chance = (share: number): string => (share > 0.999 ? "> 99.9%" : share < 0.001 ? "< 0.1%" : `${three(100 * share)}%`);

/** A value with its interval, where one is known. */
export function withEnds(value: number, low: number | null | undefined, high: number | null | undefined, text: Format, textOfEnds: Format = text): string {
  const known = low != null && high != null && !Number.isNaN(low);
  return text(value) + (known ? ` [${textOfEnds(low)}, ${textOfEnds(high)}]` : "");
}

/** A value and the ends of its interval, with as many digits as half the width of the interval supports: two. */
export function rounded(value: number, low: number, high: number): string[] {
  const places = 1 - Math.floor(Math.log10((high - low) / 2));
  if (!Number.isFinite(places)) return [value, low, high].map(number);
  return [value, low, high].map((end) => (places > 0 ? fixed(end, places) : grouped(Math.round(end * 10 ** places) / 10 ** places)));
}

export const pValue = (p: number): string => (p < 0.001 ? "< 0.001" : p.toFixed(3));

/** Letters of a name in a sentence or a cell; the table of models has all of them. */
export const LONGEST_NAME = 40;

/** Shorten a name from the middle, keeping whole characters. */
export function shorten(name: string, most: number): string {
  const letters = [...name];
  if (letters.length <= most) return name;
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

export type Cell = string | number | null;

/** CSV (RFC 4180); text that a spreadsheet would run as a formula is quoted with an apostrophe. */
export function csvOf(columns: readonly string[], rows: Iterable<readonly Cell[]>): string {
  return Array.from([columns, ...rows], (row) => `${row.map(csvCell).join(",")}\r\n`).join("");
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
