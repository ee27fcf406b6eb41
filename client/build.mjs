// Build the client: its bundles, the notices of what others have in it, and its bill of materials (CycloneDX).
//
//     node build.mjs [FOLDER]
//
// Which packages have a part in a bundle is what esbuild says that it put there; their versions and digests are those
// of the lock file. The same sources give the same bytes, in any folder and at any time.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2] ?? "../src/rocscope/report/bundles";
const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;

/** The bundles: the report, of the open page what runs before it and in its worker, and what asks whoever counts elsewhere. */
const BUNDLES = {
  report: ["src/report.ts", "src/style.css"],
  open: ["src/open/open.ts", "src/open/open.css"],
  worker: ["src/open/worker.ts"],
  live: ["src/live/live.ts", "src/live/live.css"],
  widget: ["src/live/widget.ts"],
};

/** hyparquet makes a list of every value of a column that might miss some, which takes a third of the time of a file. */
const flat = {
  name: "flat columns",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/assemble\.js$/ }, ({ importer }) => (importer.includes("hyparquet") ? { path: resolve("src/count/assemble.ts") } : undefined)),
};

/** hyparquet keeps 32 bits of the first of some differences, for which DuckDB takes 33: the others it reads rightly. */
const deltas = {
  name: "deltas of 33 bits",
  setup: ({ onLoad }) =>
    onLoad({ filter: /hyparquet[\\/]src[\\/]delta\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const mended = text.replace("let value = readZigZag(reader)\n", "let value = readZigZagInt33(reader)\n");
      if (mended === text) throw new Error(`${path}: hyparquet has changed; look whether it is mended`);
      return { contents: mended };
    }),
};

async function bundle([name, entryPoints]) {
  const { metafile, outputFiles } = await build({
    entryPoints,
    plugins: [flat, deltas],
    bundle: true,
    minify: true,
    format: name === "widget" ? "esm" : "iife", // notebooks import it
    globalName: name === "report" ? "rocscope" : undefined, // the other homes start it
    target: "es2022",
    charset: "utf8",
    legalComments: "none", // the notices have a file of their own
    entryNames: name,
    outdir: folder,
    metafile: true,
    write: false,
    preserveSymlinks: true, // so that node_modules may be a link
    logLevel: "warning",
  });
  return { outputs: Object.values(metafile.outputs), outputFiles };
}

const bundles = await Promise.all(Object.entries(BUNDLES).map(bundle));

/** The folders of the packages that have a byte in the bundle, such as node_modules/@preact/signals-core. */
function packagesOf(outputs) {
  const inputs = outputs.flatMap(({ inputs }) => Object.entries(inputs));
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  const names = used.map((path) => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]);
  return [...new Set(names.filter(Boolean))].sort();
}

/** What its authors say of copying a package: who they are, and the text that many of them share. */
function licenseOf(path) {
  const file = readdirSync(path).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  if (!file) throw new Error(`${path}: no licence file, without which it must not be copied`);
  const lines = readFileSync(join(path, file), "utf8").replace(/\r\n/g, "\n").trim().split("\n");
  const { author } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const copyright = lines.filter((line) => /^copyright /i.test(line));
  const owners = copyright.length ? copyright : [`by ${author?.name ?? author}`];
  return { owners, text: lines.filter((line) => !copyright.includes(line)).join("\n").trim() };
}

function notices(paths) {
  const byText = new Map();
  for (const path of paths) {
    const { owners, text } = licenseOf(path);
    const name = `${path.slice("node_modules/".length)} ${lock[path].version}`;
    const words = text.replace(/\s+/g, " ").replace(/^(The )?MIT License (\(MIT\) )?/i, ""); // whatever the lines
    const alike = byText.get(words) ?? { text, names: [] };
    byText.set(words, { text: alike.text, names: [...alike.names, [name, ...owners].join(", ")] });
  }
  const parts = [...byText.values()].map(({ text, names }) => `${names.join("\n")}\n\n${text}\n`);
  const all = ["The pages of rocscope contain parts of other works, under these terms.\n", ...parts].join("\n");
  if (all.includes("--")) throw new Error("a notice holds --, which would end the comment that it is in the report");
  return all;
}

function component(path) {
  const { version, license, integrity } = lock[path];
  const name = path.slice("node_modules/".length);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  const hashes = [{ alg: "SHA-512", content }];
  return { type: "library", "bom-ref": purl, name, version, purl, licenses: [{ license: { id: license } }], hashes };
}

function billOf(paths, files) {
  const { name, license } = JSON.parse(readFileSync("package.json", "utf8"));
  const digest = (contents) => createHash("sha256").update(contents).digest("hex");
  const parts = files.map(([file, contents]) => {
    return { type: "file", name: file, hashes: [{ alg: "SHA-256", content: digest(contents) }] };
  });
  const esbuild = { type: "application", name: "esbuild", version: lock["node_modules/esbuild"].version };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: { components: [esbuild] },
      component: { type: "application", name, licenses: [{ license: { id: license } }], components: parts },
    },
    components: paths.map(component),
  };
}

const files = bundles.flatMap(({ outputFiles }) => outputFiles).map(({ path, contents }) => [path.replace(/.*[\\/]/, ""), contents]).sort(([a], [b]) => (a < b ? -1 : 1));
const packages = packagesOf(bundles.flatMap(({ outputs }) => outputs));
files.push(["THIRD_PARTY.txt", notices(packages)]);
files.push(["bom.cdx.json", `${JSON.stringify(billOf(packages, files), null, 1)}\n`]);
for (const [name, contents] of files) writeFileSync(join(folder, name), contents);
