/** JSON lines, or one array of objects: each is parsed with its numbers as text, so that none is rounded on the way. */

import { Refused } from "./errors";
import type { NameSink, NumberSink } from "./sinks";

const [QUOTE, BACKSLASH, OPENS, CLOSES] = [34, 92, 123, 125];
const BETWEEN = " \t\n\r,[]";
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?(?:\d[\d.eE+-]*|NaN|Infinity)/gs;

/** Where an object ends; -1 where the text ends before. */
function afterObject(text: string, at: number): number {
  let [depth, inside] = [0, false];
  for (; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (inside && sign === BACKSLASH) at++;
    else if (sign === QUOTE) inside = !inside;
    else if (inside) continue;
    else if (sign === OPENS) depth++;
    else if (sign === CLOSES && !--depth) return at + 1;
  }
  return -1;
}

export class JsonScanner {
  rows = 0;
  private rest = "";
  /** Columns in the order in which they come up first. */
  readonly columns = new Set<string>();

  constructor(private readonly sinks: ReadonlyMap<string, readonly (NumberSink | NameSink)[]>) {}

  take(piece: string): void {
    const text = this.rest + piece;
    this.rest = text.slice(this.scan(text));
  }

  finish(): void {
    if ([...this.rest].some((sign) => !BETWEEN.includes(sign))) throw this.broken();
  }

  private broken(): Refused {
    return new Refused("the file", { expected: "one JSON object per line, or one array of objects", got: `something else after ${this.rows} rows` });
  }

  private scan(text: string): number {
    for (let at = 0; ; this.rows++) {
      while (at < text.length && BETWEEN.includes(text[at]!)) at++;
      if (at === text.length) return at;
      if (text.charCodeAt(at) !== OPENS) throw this.broken();
      const next = afterObject(text, at);
      if (next < 0) return at;
      const values = this.parsed(text.slice(at, next));
      for (const name of values.keys()) this.columns.add(name);
      for (const [name, sinks] of this.sinks) for (const sink of sinks) this.put(sink, values.get(name) ?? null);
      at = next;
    }
  }

  /** The values of an object by name: texts after an s, numbers as they are written after an n. */
  private parsed(text: string): Map<string, unknown> {
    const marked = text.replace(TEXT_OR_NUMBER, (token) => (token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`));
    try {
      return new Map(Object.entries(JSON.parse(marked) as object).map(([name, value]) => [name.slice(1), value]));
    } catch {
      throw this.broken();
    }
  }

  private put(sink: NumberSink | NameSink, value: unknown): void {
    if (value === null || typeof value === "boolean") return sink.takeWord(String(value) as "true", this.rows);
    if (typeof value !== "string") throw new Refused("the file", { expected: "plain values", got: "lists or objects" });
    const text = value.slice(1);
    if (value.startsWith("n")) sink.take(text, this.rows);
    else sink.takeText(text, this.rows);
  }
}
