/** The workbench and the widget: the report's page, its counts asked of a server or of a notebook's kernel. */

import { type Intervals, type PackedSlice, type Part, type Payload, type Source, unpackReport, unpackSlice } from "../data";
import { button, card, download, h, name, scroller, select, setText, textTable } from "../dom";
import { count, fileName, message } from "../format";
import type { Context } from "../math/context";
import { thresholdAt } from "../math/levels";
import { PendingRequests, type Reply } from "../pending";
import type * as report from "../report";
import { COUNTING, contextOf, levelOf, modelOf } from "../state/current";
import type { ConfidenceBand, State } from "../state/state";

/** The report's own bundle: signals of another copy of their library would not hear of each other. */
declare const rocscope: typeof report;
const { batch, effect } = rocscope;

export type Question = { readonly what: string } & Readonly<Record<string, unknown>>;
export type Ask = <A>(question: Question, signal?: AbortSignal) => Promise<A>;

export const overHttp: Ask = async <A>(question: Question, signal?: AbortSignal): Promise<A> => {
  let answer: Response;
  try {
    answer = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question), signal: signal ?? null });
  } catch (error) {
    throw signal?.aborted ? error : new Error("The workbench has stopped or cannot be reached");
  }
  const found: unknown = await answer.json().catch(() => ({ error: `The workbench answered ${answer.status}` }));
  if (typeof found === "object" && found !== null && "error" in found) throw new Error(String(found.error));
  return found as A;
};

/** The kernel of a notebook, through the frame around the page. */
export function overMessages(): Ask {
  const pending = new PendingRequests();
  addEventListener("message", ({ source, data }: MessageEvent<Reply>) => source === parent && pending.receive(data));
  return (question) => pending.send((id) => parent.postMessage({ id, question }, "*"));
}

interface Sheet { readonly title: string; readonly note: string; readonly rows: readonly Readonly<Record<string, string>>[] }

export function demandCard(state: State, facts: Facts, ask: Ask): HTMLElement {
  const status = h("p", { class: "caption", role: "status" });
  const found = h("div", { class: "found" });
  const { rows } = state;
  let newest = new AbortController();
  const asked = async <A>(what: string, more: Record<string, unknown>, use: (answer: A) => void): Promise<void> => {
    newest.abort();
    const { signal } = (newest = new AbortController());
    status.textContent = "Computing …";
    try {
      const answer = await ask<A>({ what, ...rowsOf(facts, rows.shown.value, rows.applied.value), ...more, context: contextOf(state) }, signal);
      if (signal.aborted) return;
      status.textContent = "";
      use(answer);
    } catch (error) {
      if (!signal.aborted) status.textContent = `${message(error)}.`;
    }
  };
  const here = (): Record<string, unknown> => ({ model: modelOf(state).name, threshold: threshold(state) });
  const sheets = (all: readonly Sheet[]): void => found.replaceChildren(...all.flatMap(sheetOf));
  const drawBand = (band: ConfidenceBand): void => {
    batch(() => (state.views.requestedBand.value = band));
    status.textContent = `95% simultaneous confidence band of the ROC curve of ${band.model}: ${band.method}.`;
  };
  const buttons = [
    button("Rates at this threshold", () => void asked("point", here(), sheets)),
    button("Confidence band", () => void asked("band", here(), drawBand)),
    button("Statistical tests", () => void asked("tests", {}, sheets)),
    button("Validation report", () => void asked("validation", {}, sheets)),
  ];
  effect(() => {
    void [state.rows.part.value, state.rows.where.value, state.rows.applied.value];
    newest.abort();
    found.replaceChildren();
    setText(status, "");
  });
  const list = facts.lists ? [listForm(state, facts, (more) => void asked<string>("list", { ...here(), ...more }, (text) => download(`${fileName(modelOf(state).name, "list")}.csv`, text)))] : [];
  return card("demand", "wide", "More analyses", [], h("div", { class: "tools" }, ...buttons), ...list, status, found);
}

function sheetOf({ title, note, rows }: Sheet): HTMLElement[] {
  return [h("h3", {}, name(title)), scroller(`Table: ${title}`, textTable(rows)), h("p", { class: "caption" }, note)];
}

/** JSON knows no infinite numbers. */
function threshold(state: State): number | string {
  const cut = thresholdAt(modelOf(state).levels, levelOf(state));
  return Number.isFinite(cut) ? cut : cut > 0 ? "nobody" : "everybody";
}

/** Who is predicted positive, as a file: the list of a campaign. */
function listForm(state: State, { columns }: Facts, save: (more: Record<string, unknown>) => void): HTMLElement {
  const column = h("select", { id: "list-column" }, h("option", { value: "" }, "row numbers"), ...columns.map((each) => h("option", { value: each }, each)));
  const most = h("input", { type: "number", id: "list-most", min: 0, step: 1, placeholder: "all" });
  const size = h("span", { class: "caption" });
  effect(() => {
    const { levels } = modelOf(state);
    const level = levelOf(state);
    setText(size, `${count(Math.round(levels.tp[level]! + levels.fp[level]!))} rows at this threshold`);
  });
  const form = h(
    "form",
    { class: "tools" },
    h("label", { class: "picker" }, "List with ", column),
    h("label", { class: "picker" }, "at most ", most),
    h("button", { type: "submit" }, "Save list"),
    size,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save({ column: column.value, most: most.value === "" ? null : most.valueAsNumber });
  });
  return form;
}

export function rowsCard(state: State, { columns, by, seconds }: Facts, split: (by: string) => void): HTMLElement {
  const entry = h("input", { type: "text", id: "where", autocomplete: "off", spellcheck: "false", placeholder: example(columns), "aria-describedby": "where-said", title: `A condition is stopped after ${seconds} seconds` });
  const said = h("p", { class: "caption trouble", id: "where-said", role: "alert" });
  const waiting = h("span", { class: "caption", role: "status" });
  const clear = button("All rows", () => (state.rows.where.value = ""), { title: "Remove the condition" });
  const form = h("form", { class: "where" }, h("label", { for: "where" }, "Rows where"), entry, h("button", { type: "submit" }, "Apply"), clear, waiting);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    state.rows.where.value = entry.value.trim();
  });
  effect(() => {
    if (document.activeElement !== entry || !state.rows.where.value) entry.value = state.rows.where.value;
    clear.disabled = !state.rows.where.value;
  });
  effect(() => {
    const text = state.rows.status.value;
    said.textContent = text === COUNTING ? "" : text;
    waiting.textContent = text === COUNTING && state.rows.where.value ? `Counting; stopped after ${seconds} s.` : "";
    entry.setAttribute("aria-invalid", String(text.startsWith("where")));
  });
  const rows = h("section", { class: "card above", id: "rows", "aria-label": "Rows" }, h("div", { class: "rows" }, form, ...splitBy(columns, by, split)), said);
  return rows;
}

function example(columns: readonly string[]): string {
  const name = columns.find((column) => /^[a-z_]\w*$/i.test(column));
  return name ? `in SQL: ${name} > 40` : "in SQL";
}

function splitBy(columns: readonly string[], by: string | null, split: (by: string) => void): HTMLElement[] {
  if (!columns.length) return [];
  const picker = select([["", "nothing"], ...columns.map((column) => [column, column] as const)], split, { id: "split" });
  picker.value = by ?? "";
  return [h("label", { class: "picker" }, "Split by ", picker)];
}

interface View {
  readonly model: string | null;
  /** The score, a word for everybody and nobody, null for the best. */
  readonly threshold: number | "everybody" | "nobody" | null;
  readonly context: Context;
  readonly where: string;
}

const same = (one: View, other: View): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What Python reads; its condition is that of the rows that are shown, and while others are counted the one that it knows. */
function viewOf(state: State, known?: View): View {
  const where = known && state.rows.status.value === COUNTING ? known.where : state.rows.applied.value;
  const { levels } = modelOf(state);
  const pinned = state.selection.pinned.value;
  const last = levels.threshold[levels.size - 1] ?? Infinity;
  const threshold = pinned === null ? null : pinned <= last ? "everybody" : Number.isFinite(pinned) ? pinned : "nobody";
  return { model: state.selection.chosen.value, threshold, context: contextOf(state), where };
}

function take(state: State, { model, threshold, context, where }: View, known: View): void {
  batch(() => {
    state.selection.chosen.value = model;
    state.selection.pinned.value = threshold === "everybody" ? -Number.MAX_VALUE : threshold === "nobody" ? Infinity : threshold;
    state.costs.prevalence.value = context.target_prevalence;
    state.costs.fp.value = context.cost_fp;
    state.costs.fn.value = context.cost_fn;
    state.costs.tp.value = context.cost_tp;
    state.costs.tn.value = context.cost_tn;
    if (where !== known.where) state.rows.where.value = where; // or what is being typed, or counted, would go
  });
}

export function linked(state: State, gone: AbortSignal): void {
  let known = viewOf(state);
  addEventListener(
    "message",
    ({ source, data }: MessageEvent<{ view?: View }>) => {
      if (source !== parent || !data.view) return;
      const before = known;
      known = data.view;
      take(state, data.view, before);
    },
    { signal: gone },
  );
  const stop = effect(() => {
    const view = viewOf(state, known);
    if (same(view, known)) return;
    known = view;
    parent.postMessage({ view }, "*");
  });
  gone.addEventListener("abort", stop);
  parent.postMessage({ ready: true }, "*");
}

export interface Facts extends Omit<Payload, "slices"> {
  readonly slices: readonly (PackedSlice & Part)[];
  /** The column that rows are split by. */
  readonly by: string | null;
  readonly columns: readonly string[];
  /** After which a condition is stopped. */
  readonly seconds: number;
  readonly lists: boolean;
}

const framed = document.documentElement.dataset["home"] === "widget";
const ask: Ask = framed ? overMessages() : overHttp;
const tab = Array.from(crypto.getRandomValues(new Uint32Array(2)), String).join("");
let shown = new AbortController();

/** Rows as they are asked for: those of a part that meet a condition. */
function rowsOf({ by }: Facts, { kind, name }: Part, where = ""): Record<string, unknown> {
  return { where, by, kind, name };
}

function sourceOf(facts: Facts): Source {
  const rows = (part: number, where?: string): Record<string, unknown> => rowsOf(facts, facts.slices[part]!, where);
  return {
    report: unpackReport(facts),
    filters: true,
    counts: async ({ part, where, aside }, signal) => unpackSlice(await ask<PackedSlice>({ what: "counts", ...rows(part, where), lane: aside ? "" : `counts ${tab}` }, signal)),
    intervals: ({ part, where }, signal) => ask<Intervals>({ what: "intervals", ...rows(part, where), lane: `intervals ${tab}` }, signal),
  };
}

/** Show the page, anew where rows are split by another column; the address keeps the view. */
async function show(facts: Facts): Promise<void> {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const source = sourceOf(facts);
  const state = await rocscope.start(source, {
    above: (state) => [rowsCard(state, facts, (by) => void split(by))],
    cards: (state) => [demandCard(state, facts, ask)],
    gone: signal,
  });
  effect(() => {
    void [state.rows.part.value, state.rows.where.value];
    state.views.requestedBand.value = null;
  });
  if (framed) linked(state, signal);
}

async function split(by: string): Promise<void> {
  const facts = await ask<Facts>({ what: "facts", by: by || null });
  const hash = new URLSearchParams(location.hash.slice(1));
  hash.delete("slice");
  if (!framed) history.replaceState(null, "", `${location.pathname}${facts.by ? `?by=${encodeURIComponent(facts.by)}` : ""}#${hash.toString()}`);
  await begin(facts);
}

async function begin(facts: Facts): Promise<void> {
  try {
    await show(facts);
  } catch (error) {
    document.body.prepend(h("main", {}, card("trouble", "", facts.title, [], h("p", { class: "trouble", role: "alert" }, `${message(error)}.`))));
  }
}

void begin(JSON.parse(document.getElementById("live-facts")?.textContent ?? "") as Facts);
