/** The open page: a file in, what its columns are for, and the report of it. Nothing leaves the page. */

import type { Report, Source } from "../data";
import type { ReadWith } from "../decision";
import { button, card, download, h, name, type Options, rowHeading, scroller, select, setText, table } from "../dom";
import { count, fileName, message, number, percent, shorten } from "../format";
import { thresholdAt } from "../math/levels";
import { WorkerClient } from "../pending";
import type { start } from "../report";
import { levelOf, modelOf } from "../state/current";
import type { State } from "../state/state";
import { exampleFile } from "./example";
import { guess, positiveOf, rolesOf, type Use } from "./guess";
import type { Counted, Glance, Layout, Look, Plan, Roles } from "./messages";
import { planCard, planIn } from "./plan";
import { type Parts, saveReport } from "./save";

declare const rocscope: { start: typeof start };

interface Facts { readonly version: string; readonly conventions: readonly string[]; readonly shell: string }

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";
const facts = JSON.parse(textOf("open-facts")) as Facts;
const parts: Parts = { shell: facts.shell, script: textOf("report-script"), style: textOf("report-style") };
const worker = new WorkerClient(textOf("worker-script"));

const PLAIN: Layout = { decimal: null, delimiter: null, encoding: null };
let layout = PLAIN;
let shown = new AbortController();
/** A plan that waits for the list to apply it to. */
let waiting: Plan | null = null;

const input = h("input", { type: "file", multiple: true, id: "files", class: "unseen", accept: ".csv,.tsv,.tab,.txt,.json,.jsonl,.ndjson,.xlsx,.xlsm,.parquet,.pq,.gz,.zst", tabindex: -1, "aria-label": "Files" });
const status = h("p", { class: "caption", role: "status" });
const trouble = h("p", { class: "trouble", role: "alert" });
const form = h("div", { class: "columns" });
const drop = h(
  "div",
  { class: "drop" },
  h("p", {}, h("strong", {}, "Drop a file here"), " or "),
  button("Choose files", () => input.click(), { class: "primary", id: "choose" }),
  input,
  button("Open an example", () => void openExample(), { id: "example" }),
  h("p", { class: "caption" }, "The file can be CSV, TSV, JSON Lines, Excel or Parquet. Text files can be compressed (.gz or .zst). Each row is one case, with its true label and the score of each model. To compare files, drop several files. To apply a saved decision, drop the decision and a new list."),
);
const main = h(
  "main",
  { id: "open" },
  h("div", { class: "heading" }, h("div", {}, h("h1", {}, "Choose a model and a threshold"), h("p", { class: "size" }, "Your file is read in this page and stays on this computer. The page makes no network connection."))),
  drop,
  trouble,
  status,
  form,
);
document.body.prepend(main);

input.addEventListener("change", () => {
  if (input.files?.length) void dropped([...input.files]);
  input.value = "";
});
for (const kind of ["dragover", "drop"] as const) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    const files = kind === "drop" ? [...(event.dataTransfer?.files ?? [])] : [];
    if (files.length) void dropped(files);
  });
}
addEventListener("dragleave", () => drop.classList.remove("over"));

/** New files: what was chosen for others says nothing of them. A plan among them is applied to the next list. */
async function dropped(files: readonly File[]): Promise<void> {
  layout = PLAIN;
  const lists: File[] = [];
  await attempt(async () => {
    for (const file of files) {
      const plan = await planIn(file);
      if (plan) waiting = plan;
      else lists.push(file);
    }
  });
  if (trouble.textContent) return form.replaceChildren();
  if (lists.length) return opened(lists);
  close();
  form.replaceChildren();
  status.textContent = `${waiting!.file} is open. Now choose the list to which the decision is applied.`;
}

async function applied(files: readonly File[], plan: Plan, sheets: readonly string[]): Promise<void> {
  form.replaceChildren();
  await attempt(async () => {
    const result = await worker.ask({ ask: "apply", files, layout, plan });
    waiting = null;
    form.replaceChildren(planCard(plan, files[0]!, result));
  });
  if (trouble.textContent) form.replaceChildren(card("columns", "", titleOf(files), [], layoutChoice(files, true, sheets)));
}

async function opened(files: readonly File[]): Promise<void> {
  const look = await glanceAt(files);
  const sheets = await worker.ask({ ask: "sheets", files }).catch(() => []);
  if (look && waiting) return applied(files, waiting, sheets);
  if (look) form.replaceChildren(columnsCard(files, look, sheets));
  else if (trouble.textContent && (sheets.length || (await sampleOf(files)).length)) form.replaceChildren(card("columns", "", titleOf(files), [], layoutChoice(files, true, sheets)));
  form.querySelector<HTMLElement>("#show")?.focus();
}

async function openExample(): Promise<void> {
  const files = [exampleFile()];
  layout = PLAIN;
  const look = await glanceAt(files);
  if (look) form.replaceChildren(columnsCard(files, look));
  form.querySelector<HTMLElement>("#show")?.click();
}

/** What the first rows hold; undefined where they cannot be read. */
async function glanceAt(files: readonly File[]): Promise<Look | undefined> {
  worker.cancel();
  close();
  form.replaceChildren();
  let look: Look | undefined;
  await attempt(async () => {
    status.replaceChildren("Reading the first rows … ", button("Cancel", () => worker.cancel()));
    look = await worker.ask({ ask: "look", files, layout });
    status.textContent = "";
  });
  return look;
}

const sampleOf = (files: readonly File[]): Promise<readonly (readonly string[])[]> => worker.ask({ ask: "text", files, layout }).catch(() => []);
const titleOf = (files: readonly File[]): string => files.map((file) => file.name).join(", ");

/** Do something, and say why where it cannot be done. */
async function attempt(job: () => Promise<void>): Promise<void> {
  trouble.textContent = "";
  try {
    await job();
  } catch (error) {
    trouble.textContent = message(error) === "cancelled" ? "" : `${message(error)}.`;
    status.textContent = "";
  }
}

const USES: readonly (readonly [Use, string])[] = [["", "not used"], ["label", "label"], ["score", "score"], ["weight", "weight"], ["segment", "segment"], ["fold", "fold"]];

function columnsCard(files: readonly File[], look: Look, sheets: readonly string[] = []): HTMLElement {
  const uses = guess(look);
  const selects = new Map<string, HTMLSelectElement>();
  const positive = h("select", { id: "positive" });
  const show = button("Show the report", () => void counted(files, look, uses, positive.value), { class: "primary", id: "show", "aria-describedby": "why" });
  const why = h("span", { class: "caption", id: "why" });
  const label = (): Glance | undefined => look.columns.find((column) => uses.get(column.name) === "label");
  const update = (): void => {
    for (const [column, select] of selects) select.value = uses.get(column) ?? "";
    const found = label();
    const before = positive.value;
    const likely = found ? positiveOf(found) : null;
    const ask = likely === null ? [h("option", { value: "" }, "choose one")] : [];
    positive.replaceChildren(...ask, ...(found?.values ?? []).map(([text]) => h("option", { value: text }, text)));
    if (found) positive.value = found.values?.some(([text]) => text === before) ? before : (likely ?? "");
    say();
  };
  const say = (): void => {
    const lacking = !label() ? "the label column" : ![...uses.values()].includes("score") ? "at least one score column" : positive.value === "" ? "the positive class, which the scores predict" : "";
    show.disabled = lacking !== "";
    why.textContent = lacking && `Choose ${lacking} to continue.`;
  };
  positive.addEventListener("change", say);
  const rowOf = (column: Glance): HTMLElement[] => {
    const picker = select<Use>(USES, (use) => {
      if (use !== "score" && use !== "") for (const [other, one] of uses) if (one === use) uses.set(other, "");
      uses.set(column.name, use);
      if (use === "label") positive.replaceChildren();
      update();
    }, { "aria-label": `Use of ${column.name}` });
    picker.value = uses.get(column.name) ?? "";
    selects.set(column.name, picker);
    return [rowHeading(name(column.name)), name(wordsOf(column)), picker];
  };
  const box = scroller("Table of columns");
  const search = h("input", { type: "text", class: "search", placeholder: `Find one of ${count(look.columns.length)} columns`, "aria-label": "Find columns" });
  const list = (): void => {
    selects.clear();
    const wanted = search.value.toLowerCase();
    const found = look.columns.filter((column) => column.name.toLowerCase().includes(wanted));
    box.replaceChildren(table(["Column", `In the first ${count(look.rows)} rows`, "Use as"], found.slice(0, MOST_ROWS).map(rowOf)));
  };
  search.hidden = look.columns.length <= MOST_ROWS;
  search.addEventListener("input", list);
  list();
  update();
  const foot = h("div", { class: "tools" }, h("label", { class: "picker", for: "positive" }, "Positive class "), positive, why, show);
  const said = "The use of each column is guessed from its name and values. Correct wrong guesses. Rows with a missing value are omitted, and the report states the number of omitted rows.";
  return card("columns", "", titleOf(files), [], h("p", { class: "caption" }, said), search, box, foot, layoutChoice(files, layout !== PLAIN, sheets, look.encoding));
}

function wordsOf({ values, range, distinct, missing }: Glance): string {
  const gaps = missing ? `, ${count(missing)} missing` : "";
  if (values && values.length <= 5) return values.map(([text, rows]) => `${text} (${count(rows)})`).join(", ") + gaps;
  return (range ? `${number(range[0])} to ${number(range[1])}` : `${count(distinct)} distinct texts`) + gaps;
}

const ENCODINGS = [["utf-8", "UTF-8"], ["windows-1252", "Windows-1252"], ["utf-16", "UTF-16"]] as const;

/** How the text of a file is written, with the first rows as they are split now. */
function layoutChoice(files: readonly File[], open: boolean, sheets: readonly string[], encoding: string | null = null): HTMLElement {
  const change = (changed: Partial<Layout>): void => {
    layout = { ...layout, ...changed };
    void opened(files);
  };
  const rowsToSkip = (label: string, now: number | undefined, changed: (rows: number | undefined) => Partial<Layout>): HTMLElement => {
    const field = h("input", { type: "number", min: 0, step: 1, value: now ?? "", placeholder: "automatic" });
    field.addEventListener("change", () => change(changed(field.value === "" || !field.checkValidity() ? undefined : field.valueAsNumber)));
    return h("label", { class: "picker" }, `${label} `, field);
  };
  const pick = (label: string, now: string, options: Options<string>, changed: (value: string) => Partial<Layout>): HTMLElement => {
    const picker = select(options, (value) => change(changed(value)));
    picker.value = now;
    return h("label", { class: "picker" }, `${label} `, picker);
  };
  const ofText = [
    pick("Delimiter", layout.delimiter ?? "", [["", "automatic"], [",", "comma"], [";", "semicolon"], ["\t", "tab"], ["|", "vertical bar"]], (value) => ({ delimiter: value || null })),
    pick("Encoding", layout.encoding ?? "", [["", `automatic${encoding ? ` (${ENCODINGS.find(([value]) => encoding.startsWith(value))?.[1] ?? encoding})` : ""}`], ...ENCODINGS], (value) => ({ encoding: value || null })),
  ];
  const choices = [
    ...(sheets.length > 1 ? [pick("Sheet", layout.sheet ?? "", [["", "choose one"], ...sheets.map((sheet) => [sheet, sheet] as const)], (value) => ({ sheet: value || undefined }))] : []),
    pick("Decimal mark", layout.decimal ?? "", [["", "automatic"], [".", "point"], [",", "comma"]], (value) => ({ decimal: (value || null) as Layout["decimal"] })),
    ...(sheets.length ? [] : ofText),
    rowsToSkip("Rows above the names", layout.skipRows, (skipRows) => ({ skipRows })),
    rowsToSkip("Rows below the table", layout.skipFooter, (skipFooter) => ({ skipFooter })),
  ];
  const rows = scroller("First rows of the file");
  const details = h("details", { class: "data", open }, h("summary", {}, "File format"), h("div", { class: "tools" }, ...choices), rows);
  details.addEventListener("toggle", () => {
    if (!details.open || rows.hasChildNodes()) return;
    void sampleOf(files).then(([head = [], ...lines]) => {
      const cells = (line: readonly string[]): string[] => line.slice(0, MOST_COLUMNS).map(clipped);
      const rest = head.length - MOST_COLUMNS;
      rows.replaceChildren(table(cells(head), lines.map(cells)), ...(rest > 0 ? [h("p", { class: "caption" }, `and ${count(rest)} more columns`)] : []));
    });
  });
  return details;
}

/** Columns whose use is shown at once: of more, a browser needs seconds, and a reader a search. */
const MOST_ROWS = 200;
/** Columns of the sample: more tell nothing of the layout, and ten thousand take a browser seconds. */
const MOST_COLUMNS = 50;

const clipped = (text: string): string => shorten(text, 24);

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
    const turn = (other: string): void => {
      form.querySelector<HTMLSelectElement>("#positive")!.value = other;
      void counted(files, look, uses, other);
    };
    const others = (label?.values ?? []).map(([text]) => text).filter((text) => text !== positive);
    await rocscope.start(source, { tools: (state) => tools(state, source, saveRows(state, files, roles)), readWith: files.length === 1 ? readWith(roles) : null, classes: { positive, others, turn }, gone: shown.signal });
  });
  if (trouble.textContent) form.querySelectorAll<HTMLDetailsElement>("details").forEach((details) => (details.open = true));
  status.textContent = "";
}

function readWith({ label, positive, scores }: Roles): ReadWith {
  return { label, score: scores, ...(positive === null ? {} : { pos_label: positive }), ...(layout.decimal ? { decimal: layout.decimal } : {}) };
}

function sourceOf(files: readonly File[], { parts: all, warnings, provenance }: Counted): Source {
  const dropped = Number(provenance["rows_dropped"] ?? 0);
  const left = dropped ? `${count(dropped)} ${dropped === 1 ? "row was" : "rows were"} omitted because of a missing or infinite value.` : "";
  const report: Report = {
    title: titleOf(files),
    notes: left,
    context: { target_prevalence: null, cost_fp: 1, cost_fn: 1, cost_tp: 0, cost_tn: 0 },
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
    intervals: async ({ part }) => {
      await new Promise((done) => setTimeout(done, 150)); // until the charts are drawn, for which the worker would leave one core less
      return worker.ask({ ask: "intervals", part });
    },
  };
}

/** Save the rows of the files with what the current threshold decides about each. */
function saveRows(state: State, files: readonly File[], roles: Roles): HTMLElement {
  const save = button("Save rows", () => void saved(), { title: "Save the rows of the file, with the decision at this threshold and the outcome of each row" });
  const saved = async (): Promise<void> => {
    const { levels, name, thresholdText } = modelOf(state);
    const level = levelOf(state);
    const text = level > 0 && level < levels.size - 1 ? thresholdText?.[level - 1] : undefined;
    const threshold = text === undefined ? thresholdAt(levels, level) : BigInt(text);
    save.disabled = true;
    await attempt(async () => {
      const rows = await worker.ask({ ask: "rows", files, layout, roles, model: name, threshold }, (share) => setText(save, `Saving ${percent(share)}`));
      download(`${fileName(state.report.title, "decided")}.csv`, rows);
    });
    setText(save, trouble.textContent || "Save rows");
    save.disabled = false;
  };
  return save;
}

/** What stands beside the report's name; with that the report takes the place of what it was made from. */
function tools(state: State, source: Source, rows: HTMLElement): HTMLElement[] {
  main.hidden = true;
  scrollTo(0, 0);
  const stored: Source = { ...source, counts: ({ part }) => worker.ask({ ask: "stored", part }) };
  const save = button("Save report", () => void saveReport(state, stored, parts));
  const back = button("Change columns or file", () => {
    close();
    form.querySelector<HTMLElement>("#show")?.focus();
  });
  return [back, save, rows];
}

function close(): void {
  shown.abort();
  shown = new AbortController();
  main.hidden = false;
}
