/** The parts of a ZIP archive, of which only those that are asked for are unpacked. */

import { type UnzipFileInfo, unzipSync } from "fflate";

import { Refused } from "./errors";

// Parts that unpack to more bytes, and to so many times their size, hold no table; as in Python's `open_excel`.
const [MOST_UNPACKED, MOST_RATIO] = [1 << 28, 200];

export class Archive {
  private constructor(private readonly file: File, private readonly bytes: Uint8Array) {}

  static async of(file: File): Promise<Archive> {
    const archive = new Archive(file, new Uint8Array(await file.arrayBuffer()));
    archive.parts(() => false, new Refused(file.name, { expected: "an Excel workbook", got: "a broken or encrypted archive", hint: "save it again" }));
    return archive;
  }

  /** A part as text; empty if the archive has none of that name. */
  text(name: string): string {
    const refused = new Refused(`${this.file.name}: ${name}`, { got: "data that cannot be unpacked", hint: "save the workbook again" });
    const [part] = this.parts((found) => found.toLowerCase() === name.toLowerCase(), refused);
    return new TextDecoder().decode(part);
  }

  private parts(wanted: (name: string) => boolean, refused: Refused): Uint8Array[] {
    const filter = ({ name, size, originalSize }: UnzipFileInfo): boolean => {
      if (originalSize <= Math.max(MOST_UNPACKED, MOST_RATIO * size)) return wanted(name);
      const got = `${originalSize.toLocaleString("en")} bytes compressed to ${size.toLocaleString("en")}`;
      throw new Refused(`${this.file.name}: ${name}`, { expected: "a table of usual size", got });
    };
    try {
      return Object.values(unzipSync(this.bytes, { filter }));
    } catch (error) {
      throw error instanceof Refused ? error : refused;
    }
  }
}
