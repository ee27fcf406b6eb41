/** The parts of a ZIP archive, of which only those that are asked for are unpacked. */

import { Refused } from "./errors";

// Parts that unpack to more bytes, and to so many times their size, hold no table; as in Python's `open_excel`.
const [MOST_UNPACKED, MOST_RATIO] = [1 << 28, 200];
const [END_OF_DIRECTORY, PART, LONGEST_COMMENT] = [0x06054b50, 0x02014b50, 65_535];
const [STORED, DEFLATED, ENCRYPTED] = [0, 8, 1];

interface Part { readonly method: number; readonly packed: number; readonly size: number; readonly at: number }

export class Archive {
  private constructor(private readonly file: File, private readonly parts: ReadonlyMap<string, Part>) {}

  static async of(file: File): Promise<Archive> {
    const refused = new Refused(file.name, { expected: "an Excel workbook", got: "a broken or encrypted archive", hint: "save it again" });
    const tail = await viewOf(file, Math.max(0, file.size - LONGEST_COMMENT - 22), file.size);
    let end = tail.byteLength - 22;
    while (end >= 0 && tail.getUint32(end, true) !== END_OF_DIRECTORY) end--;
    if (end < 0) throw refused;
    const start = tail.getUint32(end + 16, true);
    const directory = await viewOf(file, start, start + tail.getUint32(end + 12, true));
    const parts = new Map<string, Part>();
    for (let at = 0; at + 46 <= directory.byteLength; ) {
      if (directory.getUint32(at, true) !== PART || directory.getUint16(at + 8, true) & ENCRYPTED) throw refused;
      const [packed, size] = [directory.getUint32(at + 20, true), directory.getUint32(at + 24, true)];
      const length = directory.getUint16(at + 28, true);
      const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, Math.min(length, directory.byteLength - at - 46)));
      if (size > Math.max(MOST_UNPACKED, MOST_RATIO * packed)) {
        throw new Refused(`${file.name}: ${name}`, { expected: "a table of usual size", got: `${size.toLocaleString("en")} bytes compressed to ${packed.toLocaleString("en")}` });
      }
      parts.set(name.toLowerCase(), { method: directory.getUint16(at + 10, true), packed, size, at: directory.getUint32(at + 42, true) });
      at += 46 + length + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
    }
    return new Archive(file, parts);
  }

  /** A part as text; empty if the archive has none of that name. */
  async text(name: string): Promise<string> {
    const part = this.parts.get(name.toLowerCase());
    if (!part) return "";
    const refused = new Refused(`${this.file.name}: ${name}`, { got: "data that cannot be unpacked", hint: "save the workbook again" });
    const head = await viewOf(this.file, part.at, part.at + 30);
    if (head.byteLength < 30 || (part.method !== STORED && part.method !== DEFLATED)) throw refused;
    const start = part.at + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    const packed = this.file.slice(start, start + part.packed).stream();
    const stream = part.method === STORED ? packed : packed.pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.getReader();
    const decoder = new TextDecoder();
    const pieces: string[] = [];
    let size = 0;
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        size += next.value.length;
        if (size > part.size) throw refused;
        pieces.push(decoder.decode(next.value, { stream: true }));
      }
    } catch {
      throw refused;
    } finally {
      void reader.cancel().catch(() => undefined);
    }
    return pieces.join("");
  }
}

async function viewOf(file: File, start: number, end: number): Promise<DataView> {
  return new DataView(await file.slice(start, end).arrayBuffer());
}
