declare module "hyparquet-compressors/src/gzip.js" {
  export function gunzip(input: Uint8Array, output: Uint8Array): Uint8Array;
}
declare module "hyparquet-compressors/src/lz4.js" {
  export function decompressLz4(input: Uint8Array, outputLength: number): Uint8Array;
  export function decompressLz4Raw(input: Uint8Array, outputLength: number): Uint8Array;
}
declare module "*/hyparquet/src/assemble.js" {
  type Levels = ArrayLike<number> | undefined;
  export function assembleLists(output: unknown[], definitionLevels: Levels, repetitionLevels: ArrayLike<number>, values: ArrayLike<unknown>, schemaPath: readonly unknown[]): ArrayLike<unknown>;
  export const assembleNested: unknown;
}
