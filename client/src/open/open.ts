/** The open page: a file in, what its columns are for, and the report of it. Nothing leaves the page. */

import type { Report } from "../data";
import { button, card, h, name, scroller } from "../dom";
import { count, number } from "../format";
import type { start } from "../main";
import type { Source } from "../source";
import type { State } from "../state";
import { Asking } from "./asking";
import { guess, positiveOf, rolesOf, type Use } from "./guess";
import type { Counted, Glance, Layout, Look } from "./messages";
import { type Parts, saveReport } from "./save";

declare const rocscope: { start: typeof start };

interface Facts {
  readonly version: string;
  readonly conventions: readonly string[];
  readonly shell: string;
}

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";
const facts = JSON.parse(textOf("open-facts")) as Facts;
const parts: Parts = { shell: facts.shell, script: textOf("report-script"), style: textOf("report-style") };
const worker = new Asking(textOf("worker-script"));

let layout: Layout = { decimal: ".", delimiter: null, encoding: "utf-8" };
let shown = new AbortController();

const input = h("input", { type: "file", multiple: true, id: "files", class: "unseen", accept: ".csv,.tsv,.tab,.txt,.json,.jsonl,.ndjson,.parquet,.pq,.gz,.zst", tabindex: -1, "aria-label": "Files" });
const status = h("p", { class: "caption", role: "status" });
const trouble = h("p", { class: "trouble", role: "alert" });
const form = h("div", { class: "columns" });
const drop = h(
  "div",
  { class: "drop" },
  h("p", {}, h("strong", {}, "Drop a file here"), " or "),
  button("Choose files", () => input.click(), { class: "primary", id: "choose" }),
  input,
  h("p", { class: "caption" }, "CSV, TSV, JSON lines or Parquet, also as .gz or .zst: one row for each case, with its true label and the score of each model. Several files are compared with each other."),
);
const main = h(
  "main",
  { id: "open" },
  h("div", { class: "heading" }, h("div", {}, h("h1", {}, "From a file of scores to a decision"), h("p", { class: "size" }, "The file is read in this page and stays on this computer: the page connects to nothing."))),
  drop,
  trouble,
  status,
  form,
);
document.body.prepend(main);

input.addEventListener("change", () => {
  if (input.files?.length) void opened([...input.files]);
  input.value = "";
});
for (const kind of ["dragover", "drop"] as const) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    const files = kind === "drop" ? [...(event.dataTransfer?.files ?? [])] : [];
    if (files.length) void opened(files);
  });
}
addEventListener("dragleave", () => drop.classList.remove("over"));

async function opened(files: readonly File[]): Promise<void> {
  worker.cancel();
  close();
  form.replaceChildren();
  await attempt(async () => {
    status.textContent = "Looking at the first rows …";
    const look = await worker.ask({ ask: "look", files, layout });
    status.textContent = "";
    form.replaceChildren(columnsCard(files, look));
    form.querySelector<HTMLElement>("#show")?.focus();
  });
}

/** Do something, and say why where it cannot be done. */
async function attempt(job: () => Promise<void>): Promise<void> {
  trouble.textContent = "";
  try {
    await job();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    trouble.textContent = said === "cancelled" ? "" : `${said}.`;
    status.textContent = "";
  }
}

const USES: readonly (readonly [Use, string])[] = [["", "not used"], ["label", "label"], ["score", "score"], ["weight", "weight"], ["segment", "segment"], ["fold", "fold"]];

function columnsCard(files: readonly File[], look: Look): HTMLElement {
  const uses = guess(look);
  const selects = new Map<string, HTMLSelectElement>();
  const positive = h("select", { id: "positive" });
  const show = button("Show the report", () => void counted(files, look, uses, positive.value), { class: "primary", id: "show" });
  const label = (): Glance | undefined => look.columns.find((column) => uses.get(column.name) === "label");
  const update = (): void => {
    for (const [column, select] of selects) select.value = uses.get(column) ?? "";
    const found = label();
    const before = positive.value;
    positive.replaceChildren(...(found?.values ?? []).map(([text]) => h("option", { value: text }, text)));
    if (found) positive.value = found.values?.some(([text]) => text === before) ? before : (positiveOf(found) ?? "");
    show.disabled = !found || ![...uses.values()].includes("score");
  };
  const rows = look.columns.map((column) => {
    const select = h("select", { "aria-label": `Use of ${column.name}` }, ...USES.map(([use, text]) => h("option", { value: use }, text)));
    selects.set(column.name, select);
    select.addEventListener("change", () => {
      const use = select.value as Use;
      if (use !== "score" && use !== "") for (const [other, one] of uses) if (one === use) uses.set(other, "");
      uses.set(column.name, use);
      if (use === "label") positive.replaceChildren();
      update();
    });
    return h("tr", {}, h("th", { scope: "row" }, name(column.name)), h("td", {}, name(wordsOf(column))), h("td", {}, select));
  });
  const head = h("tr", {}, ...["Column", `In the first ${count(look.rows)} rows`, "Use as"].map((text) => h("th", { scope: "col" }, text)));
  const list = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
  update();
  const titled = files.map((file) => file.name).join(", ");
  const foot = h("div", { class: "tools" }, h("label", { class: "picker", for: "positive" }, "Positive class "), positive, show);
  const said = "Guessed from names and values: change what is wrong. Rows with a missing value are left out, and the report says how many.";
  return card("columns", "", titled, [], h("p", { class: "caption" }, said), scroller("Table of columns", list), foot, layoutChoice(files));
}

function wordsOf({ values, range, distinct, missing }: Glance): string {
  const gaps = missing ? `, ${count(missing)} missing` : "";
  if (values && values.length <= 5) return values.map(([text, rows]) => `${text} (${count(rows)})`).join(", ") + gaps;
  return (range ? `${number(range[0])} to ${number(range[1])}` : `${count(distinct)} different texts`) + gaps;
}

/** How text is written, where the file does not tell. */
function layoutChoice(files: readonly File[]): HTMLElement {
  const pick = (label: string, now: string, options: readonly (readonly [string, string])[], set: (value: string) => Layout): HTMLElement => {
    const select = h("select", {}, ...options.map(([value, text]) => h("option", { value }, text)));
    select.value = now;
    select.addEventListener("change", () => {
      layout = set(select.value);
      void opened(files);
    });
    return h("label", { class: "picker" }, `${label} `, select);
  };
  const choices = [
    pick("Decimal mark", layout.decimal, [[".", "point"], [",", "comma"]], (value) => ({ ...layout, decimal: value as Layout["decimal"] })),
    pick("Between fields", layout.delimiter ?? "", [["", "as found"], [",", "comma"], [";", "semicolon"], ["\t", "tab"], ["|", "bar"]], (value) => ({ ...layout, delimiter: value || null })),
    pick("Encoding", layout.encoding, [["utf-8", "UTF-8"], ["windows-1252", "Windows-1252 (Latin-1)"], ["utf-16le", "UTF-16"]], (value) => ({ ...layout, encoding: value })),
  ];
  const changed = layout.decimal !== "." || layout.delimiter !== null || layout.encoding !== "utf-8";
  return h("details", { class: "data", open: changed }, h("summary", {}, "How the file is written"), h("div", { class: "tools" }, ...choices));
}

async function counted(files: readonly File[], look: Look, uses: ReadonlyMap<string, Use>, positive: string): Promise<void> {
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Reading" });
  const cancel = button("Cancel", () => worker.cancel());
  status.replaceChildren("Reading ", bar, " ", cancel);
  await attempt(async () => {
    const label = look.columns.find((column) => uses.get(column.name) === "label");
    const roles = rolesOf(uses, positive || null, label);
    const found = await worker.ask({ ask: "count", files, layout, roles }, (share) => (bar.value = share));
    const source = sourceOf(files, found);
    close();
    await rocscope.start(source, { tools: (state) => tools(state, source), gone: shown.signal });
  });
  status.textContent = "";
}

/** What was counted here, as the page asks for it. */
function sourceOf(files: readonly File[], { parts: all, warnings, provenance }: Counted): Source {
  const dropped = Number(provenance["rows_dropped"] ?? 0);
  const left = dropped ? `${count(dropped)} ${dropped === 1 ? "row is" : "rows are"} left out, as a value is missing or infinite.` : "";
  const report: Report = {
    title: files.map((file) => file.name).join(", "),
    notes: left,
    context: { prevalence: null, costFp: 1, costFn: 1, costTp: 0, costTn: 0 },
    parts: all,
    classes: null,
    validation: {},
    conventions: facts.conventions,
    warnings,
    provenance: { rocscope: facts.version, ...provenance },
  };
  return {
    report,
    counts: ({ part }) => worker.ask({ ask: "slice", part }),
    sureness: async ({ part }) => {
      await new Promise((done) => setTimeout(done, 150)); // until the charts are drawn, for which the worker would leave one core less
      return worker.ask({ ask: "sureness", part });
    },
  };
}

/** What stands beside the report's name; with that the report takes the place of what it was made from. */
function tools(state: State, source: Source): HTMLElement[] {
  main.hidden = true;
  scrollTo(0, 0);
  const save = button("Save report", () => void saveReport(state, source, parts));
  const back = button("Other columns or file", () => {
    close();
    form.querySelector<HTMLElement>("#show")?.focus();
  });
  return [back, save];
}

/** Take the report away and show what it was made from. */
function close(): void {
  shown.abort();
  shown = new AbortController();
  main.hidden = false;
}
