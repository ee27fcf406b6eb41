/** What is refused, in the words that Python has for it: what was expected, what was found. */

export class Refused extends Error {
  constructor(subject: string, said: { expected?: string; got?: string; hint?: string } = {}) {
    const { expected, got, hint } = said;
    const found = got ? (expected ? `, got ${got}` : `: got ${got}`) : "";
    super(`${subject}${expected ? `: expected ${expected}` : ""}${found}${hint ? `; ${hint}` : ""}`);
  }
}

export const counted = (cases: number, noun: string): string => `${cases.toLocaleString("en")} ${noun}${cases === 1 ? "" : "s"}`;

const MOST_NAMED = 6; // names in a message: a choice

/** The first of some values, and how many more there are. */
export function listing(values: readonly string[], most = MOST_NAMED): string {
  const rest = values.length - most;
  return values.slice(0, most).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** A value as Python writes it. */
export function shown(value: unknown, whole = true): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return whole || !Number.isInteger(value) ? String(value) : `${value}.0`;
  if (typeof value !== "string") return String(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  return quote + value.replace(/[\\']/g, (sign) => (sign === quote || sign === "\\" ? `\\${sign}` : sign)).replace(/\n/g, "\\n") + quote;
}
