/** What the beginning of a file tells: that it is not what its name says, and the encoding of a text. The rules of Python's `first_bytes`. */

import { LOOKED_AT, MARKUP, UNLIKE_TEXT } from "../constants";
import { Refused } from "./errors";

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Refuse a file that begins as one of another kind. */
export function refuseOtherKinds(start: Uint8Array, file: string, expected: string): void {
  const text = latin(start);
  const found = UNLIKE_TEXT.find(([magic]) => text.startsWith(magic!));
  const hint = found?.[1]?.includes("Arrow") ? "write it as Parquet" : found?.[2];
  if (found) throw new Refused(file, { expected, got: found[1]!, hint: hint! });
  if (new RegExp(`^${MARKUP}`, "i").test(text.replace(/^\xef\xbb\xbf/, ""))) throw new Refused(file, { expected, got: "a web page or XML", hint: "in Excel choose File > Save As > CSV UTF-8" });
}

/** Refuse what is not compressed as its name says. */
export function requireCompressed(start: Uint8Array, file: string, suffix: string): void {
  const [kind, magic] = suffix === "gz" ? ["gzip", "\x1f\x8b"] : ["zstd", "\x28\xb5\x2f\xfd"];
  if (!latin(start).startsWith(magic!)) throw new Refused(file, { expected: `a file compressed by ${kind}`, got: "another kind of file", hint: `remove .${suffix} from the name of the file` });
}

/** Refuse what does not begin and end as Parquet files do. */
export async function requireParquet(file: File, start: Uint8Array): Promise<void> {
  if (!latin(start).startsWith("PAR1")) {
    refuseOtherKinds(start, file.name, "a Parquet file");
    throw new Refused(file.name, { expected: "a Parquet file", got: "another kind of file", hint: "if the file is text, change its extension to .csv" });
  }
  const end = new Uint8Array(await file.slice(Math.max(4, file.size - 4)).arrayBuffer());
  if (latin(end) !== "PAR1") throw new Refused(file.name, { expected: "a complete Parquet file", got: "an incomplete Parquet file", hint: "copy or write the file again" });
}

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/** Signs that Windows-1252 lacks: browsers have invisible ones for them, Python refuses them. */
const UNDEFINED = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * The encoding that the beginning of a text is written in. A byte order mark, or zeros in every other byte, tells UTF-16;
 * anything that is no UTF-8 is taken for Windows-1252, unless it has bytes that this has no signs for.
 */
export function encodingOf(bytes: Uint8Array): Encoding {
  const start = bytes.subarray(0, LOOKED_AT);
  const [a, b, c, d] = start;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-8" : "utf-16le"; // which refuses UTF-32
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a && b === 0 && d === 0) return "utf-16le";
  if (b && a === 0 && c === 0) return "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
  } catch {
    return start.includes(0) || [0x81, 0x8d, 0x8f, 0x90, 0x9d].some((byte) => start.includes(byte)) ? "utf-8" : "windows-1252";
  }
  return "utf-8";
}

/** Turns pieces of a text into those of the same in UTF-8. */
export function recoder(encoding: Encoding, file: string): (piece: Uint8Array, last: boolean) => Uint8Array {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const encoder = new TextEncoder();
  return (piece, last) => {
    try {
      const text = decoder.decode(piece, { stream: !last });
      if (encoding === "utf-8") return piece;
      if (encoding !== "windows-1252" || !UNDEFINED.test(text)) return encoder.encode(text);
    } catch {
      // said below
    }
    throw new Refused(file, { expected: `${encoding === "windows-1252" ? "Windows-1252" : encoding.toUpperCase()} text`, got: "text in another encoding", hint: "choose the encoding of the file" });
  };
}
