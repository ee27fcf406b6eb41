/** JSON lines, or one array of objects: each is parsed with its numbers as text, so that none is rounded on the way. */

import { joined } from "./csv";
import { Refused } from "./errors";
import { NameSink, NumberSink, textOf } from "./sinks";

const [QUOTE, BACKSLASH, OPENS, CLOSES] = [34, 92, 123, 125];
const BETWEEN = new Set([...' \t\n\r,[]'].map((sign) => sign.charCodeAt(0)));
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?(?:\d[\d.eE+-]*|NaN|Infinity)/gs;
const ENCODER = new TextEncoder();

/** Where an object ends; -1 where the bytes end before. */
function afterObject(bytes: Uint8Array, at: number): number {
  let [depth, inside] = [0, false];
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inside && byte === BACKSLASH) at++;
    else if (byte === QUOTE) inside = !inside;
    else if (inside) continue;
    else if (byte === OPENS) depth++;
    else if (byte === CLOSES && !--depth) return at + 1;
  }
  return -1;
}

export class JsonScanner {
  rows = 0;
  private rest = new Uint8Array(0);
  /** Columns in the order in which they come up first. */
  readonly columns = new Set<string>();

  constructor(private readonly sinks: ReadonlyMap<string, readonly (NumberSink | JsonNames)[]>) {}

  take(piece: Uint8Array): void {
    const bytes = joined(this.rest, piece);
    this.rest = bytes.slice(this.scan(bytes));
  }

  finish(): void {
    if (this.rest.some((byte) => !BETWEEN.has(byte))) throw this.broken();
  }

  private broken(): Refused {
    return new Refused("the file", { expected: "one JSON object per line, or one array of objects", got: `something else after ${this.rows} rows` });
  }

  private scan(bytes: Uint8Array): number {
    let at = this.rows === 0 && bytes[0] === 0xef ? 3 : 0;
    for (;;) {
      while (at < bytes.length && BETWEEN.has(bytes[at]!)) at++;
      if (at === bytes.length) return at;
      if (bytes[at] !== OPENS) throw this.broken();
      const next = afterObject(bytes, at);
      if (next < 0) return at;
      const values = this.parsed(textOf(bytes, at, next));
      for (const name of values.keys()) this.columns.add(name);
      for (const [name, sinks] of this.sinks) for (const sink of sinks) this.put(sink, values.get(name) ?? null);
      at = next;
      this.rows++;
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

  private put(sink: NumberSink | JsonNames, value: unknown): void {
    if (value === null || typeof value === "boolean") return sink.takeWord(String(value) as "true", this.rows);
    if (typeof value !== "string") throw new Refused("the file", { expected: "plain values", got: "lists or objects" });
    const text = value.slice(1);
    if (value.startsWith("s")) return sink instanceof NumberSink ? sink.strangeText(text, this.rows) : sink.takeText(text, this.rows);
    const bytes = ENCODER.encode(text);
    sink.take(bytes, 0, bytes.length, this.rows);
  }
}

export class JsonNames {
  private readonly texts = new NameSink();
  private readonly kinds = new Set<"text" | "number" | "bool">();

  take(bytes: Uint8Array, start: number, end: number, row: number): void {
    this.kinds.add("number");
    this.texts.take(bytes, start, end, row);
  }

  takeText(text: string, row: number): void {
    this.kinds.add("text");
    this.texts.set(row, this.texts.codeOf(text));
  }

  takeWord(word: "true" | "false" | "null", row: number): void {
    if (word === "null") return this.texts.set(row, -1);
    this.kinds.add("bool");
    this.texts.set(row, this.texts.codeOf(word));
  }

  finish(rows: number, subject: string): ReturnType<NameSink["finish"]> {
    if (this.kinds.size > 1) throw new Refused(subject, { expected: "text, numbers or dates", got: "values of several types", hint: "write it as text" });
    if (this.kinds.has("number")) return this.texts.finish(rows, ".", subject);
    const names = this.texts.raw(rows);
    return this.kinds.has("bool") ? { ...names, classes: names.classes.map((text) => text === "true"), kind: "bool" } : names;
  }
}
