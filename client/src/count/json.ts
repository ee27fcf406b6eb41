/** JSON lines, or one array of objects, value by value from their bytes: no number is rounded on the way. */

import { joined } from "./csv";
import { Refused } from "./errors";
import { NameSink, NumberSink, textOf } from "./sinks";

const [QUOTE, BACKSLASH] = [34, 92];
const BETWEEN = new Set([...' \t\n\r,[]'].map((sign) => sign.charCodeAt(0)));
const STOPS = new Set([...' \t\n\r,]}'].map((sign) => sign.charCodeAt(0)));

/** Where a text ends that begins with a quote; -1 where the bytes end before. */
function afterText(bytes: Uint8Array, at: number): number {
  for (at++; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return -1;
}

/** Where a value ends. */
function afterValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return afterText(bytes, at);
  if (first !== 123 && first !== 91) {
    while (at < bytes.length && !STOPS.has(bytes[at]!)) at++;
    return at < bytes.length ? at : -1;
  }
  for (let depth = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = afterText(bytes, at);
      if (at < 0) return -1;
      continue;
    }
    if (byte === 123 || byte === 91) depth++;
    if (byte === 125 || byte === 93) depth--;
    at++;
    if (!depth) return at;
  }
  return -1;
}

const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

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
      if (bytes[at] !== 123) throw this.broken();
      const next = this.object(bytes, at + 1);
      if (next < 0) return at;
      at = next;
      this.rows++;
    }
  }

  private object(bytes: Uint8Array, at: number): number {
    const given = new Set<string>();
    for (;;) {
      while (isSpace(bytes[at]) || bytes[at] === 44) at++;
      if (bytes[at] === undefined) return -1;
      if (bytes[at] === 125) break;
      if (bytes[at] !== QUOTE) throw this.broken();
      const end = afterText(bytes, at);
      if (end < 0) return -1;
      const name = this.parsed(bytes, at, end);
      at = end;
      while (isSpace(bytes[at]) || bytes[at] === 58) at++;
      if (bytes[at] === undefined) return -1;
      const stop = afterValue(bytes, at);
      if (stop < 0) return -1;
      this.columns.add(name);
      given.add(name);
      for (const sink of this.sinks.get(name) ?? []) this.put(sink, bytes, at, stop);
      at = stop;
    }
    for (const [name, sinks] of this.sinks) if (!given.has(name)) for (const sink of sinks) sink.takeWord("null", this.rows);
    return at + 1;
  }

  private put(sink: NumberSink | JsonNames, bytes: Uint8Array, start: number, end: number): void {
    const first = bytes[start]!;
    if (first === QUOTE) return sink instanceof NumberSink ? sink.strangeText(this.parsed(bytes, start, end), this.rows) : sink.takeText(this.parsed(bytes, start, end), this.rows);
    if (first === 123 || first === 91) throw new Refused("the file", { expected: "plain values", got: "lists or objects" });
    const word = first > 96 ? textOf(bytes, start, end) : "";
    if (word === "true" || word === "false" || word === "null") return sink.takeWord(word, this.rows);
    if (word) throw this.broken();
    sink.take(bytes, start, end, this.rows);
  }

  private parsed(bytes: Uint8Array, start: number, end: number): string {
    try {
      return JSON.parse(textOf(bytes, start, end)) as string;
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw this.broken();
    }
  }
}

/** Names of JSON, which knows texts, numbers and truth values apart. */
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
