/** The page: whoever counts in, cards out. */

import { effect } from "@preact/signals-core";

import { bindAddress } from "./address";
import { exportMenu } from "./chart/export";
import { drawFirstFrame, spread } from "./chart/scheduling";
import { calibrationChart } from "./charts/calibration";
import { gainChart } from "./charts/gain";
import { metricsChart } from "./charts/metrics";
import { moneyChart } from "./charts/money";
import { rocChart } from "./charts/roc";
import { thresholdKeys } from "./charts/shared";
import { winnersChart } from "./charts/winners";
import { SMALL } from "./constants.json";
import { embedded, type Payload, type Source } from "./data";
import { type ReadWith, saveDecision } from "./decision";
import { button, h, select } from "./dom";
import { count } from "./format";
import { campaignCard, decilesCard } from "./panels/campaign";
import { confusion } from "./panels/confusion";
import { controls } from "./panels/controls";
import { modelsTable } from "./panels/models";
import { about, classesCard, cutoffsCard, overviewCard, segmentsCard, validationCard } from "./panels/tables";
import { certaintyOf, type ClassNames, direction, verdict } from "./panels/verdict";
import { COUNTING, modelOf } from "./state/current";
import { createState, showRows, type State } from "./state/state";

/** What a home has besides what every page has. */
export interface Home {
  readonly tools?: (state: State) => readonly HTMLElement[];
  readonly classes?: ClassNames;
  readonly readWith?: ReadWith | null;
  readonly above?: (state: State) => readonly HTMLElement[];
  readonly cards?: (state: State) => readonly HTMLElement[];
  /** Says when the page is to be taken away. */
  readonly gone?: AbortSignal;
}

export async function start(source: Source, { tools, classes, readWith = null, above, cards, gone = new AbortController().signal }: Home = {}): Promise<State> {
  const { report } = source;
  const found = source.counts({ part: 0 }, new AbortController().signal);
  const state = createState(source, await found);
  const undo = button("Undo", () => address.undo(), { title: "Undo (Ctrl+Z)", hidden: true });
  const reset = button("Reset", () => address.reset(), { hidden: true });
  const address = bindAddress(state, (canUndo) => (undo.hidden = reset.hidden = !canUndo), gone);
  const grid = h("div", { class: "grid" });
  const rest = h("div", { class: "grid" });
  const page = h("main");
  gone.addEventListener("abort", () => page.remove());
  document.body.prepend(page);
  const jobs: (() => void)[] = [
    () =>
      page.append(
        heading(state, [
          undo,
          reset,
          ...(tools?.(state) ?? []),
          exportMenu(state, copyLink(address.link)),
          button("Save decision", () => void saveDecision(state, readWith), { class: "primary" }),
        ]),
        direction(state, classes),
        ...(above?.(state) ?? []),
        ...(report.classes ? [classesCard(state, report.classes)] : []),
        h("div", { class: "bar" }, verdict(state), controls(state)),
        grid,
      ),
    ...[rocChart, gainChart, moneyChart].map((make) => () => grid.append(make(state))),
    () => grid.append(modelsTable(state), ...(report.classes ? [overviewCard(report.classes)] : [])),
    ...[calibrationChart, confusion].map((make) => () => grid.append(make(state))),
    () => page.append(...(cards?.(state) ?? []), h("details", { class: "details", id: "details" }, h("summary", {}, "Details"), rest)),
    ...[winnersChart, metricsChart, campaignCard, decilesCard].map((make) => () => rest.append(make(state))),
    () => rest.append(...segmentsCard(state), ...decisionCard(state), cutoffsCard(state), ...validationCard(state), ...about(state)),
  ];
  if (found instanceof Promise) await spread(jobs); // what is at hand is there before anything else happens: somebody prints it at once
  else {
    jobs.forEach((job) => job());
    drawFirstFrame();
  }
  document.addEventListener("keydown", (event) => onKey(event, state, address.undo), { signal: gone });
  return state;
}

/** What Python drew of the decision, grey where it describes another state. */
function decisionCard(state: State): HTMLElement[] {
  const drawn = [...document.querySelectorAll<HTMLElement>("#decision")];
  effect(() => drawn.forEach((card) => card.classList.toggle("stale", Boolean(certaintyOf(state)?.other))));
  return drawn;
}

function heading(state: State, tools: readonly HTMLElement[]): HTMLElement {
  const { report } = state;
  const size = h("p", { class: "size" });
  const where = h("p", { class: "size" });
  const few = h("p", { class: "size few" });
  effect(() => {
    const { nPos, nNeg } = modelOf(state).levels;
    const { kind, name: rows } = state.rows.shown.value;
    size.textContent = kind === "class" ? `${count(nPos)} of class ${rows}, ${count(nNeg)} others` : `${count(nPos + nNeg)} rows`;
    size.title = `${count(nPos)} positives, ${count(nNeg)} negatives`;
    const part = kind === "segment" || kind === "fold" ? ` of ${kind} ${rows}` : ""; // the picker is not printed
    const condition = state.rows.applied.value && ` where ${state.rows.applied.value}`;
    where.textContent = part || condition ? `Rows${part}${condition}` : "";
    const said = state.filters && state.rows.status.value !== COUNTING ? "" : state.rows.status.value; // a refusal stands beside the condition
    few.textContent = said || (Math.min(nPos, nNeg) < SMALL ? `Small sample: fewer than ${SMALL} cases of a class. Rates are uncertain.` : "");
  });
  return h(
    "div",
    { class: "heading" },
    h("div", {}, h("h1", { dir: "auto" }, report.title), size, where, few, ...(report.notes ? [h("p", { class: "notes", dir: "auto" }, report.notes)] : [])),
    h("div", { class: "tools" }, ...slicePicker(state), ...tools),
  );
}

function slicePicker(state: State): HTMLElement[] {
  const { parts } = state.report;
  if (parts.length < 2) return [];
  const picker = select([], (value) => showRows(state, Number(value)), { id: "slice" });
  for (const kind of new Set(parts.map((part) => part.kind))) {
    const options = parts.flatMap((part, i) => (part.kind === kind ? [h("option", { value: i }, part.name)] : []));
    picker.append(...(kind === "all" || kind === "class" ? options : [h("optgroup", { label: kind }, ...options)]));
  }
  effect(() => void (picker.value = String(state.rows.part.value)));
  return [h("label", { class: "picker" }, state.report.classes ? "Class " : "Rows ", picker)];
}

function copyLink(link: () => string): HTMLButtonElement {
  const copy = button("Copy link", () => {
    const done = (text: string): void => {
      copy.textContent = text;
      setTimeout(() => (copy.textContent = "Copy link"), 1500);
    };
    if (location.protocol === "about:") return done("This page has no address"); // in the frame of a notebook
    navigator.clipboard?.writeText(link()).then(() => done("Copied"), () => done("The link is in the address bar")) ?? done("The link is in the address bar");
  });
  return copy;
}

function onKey(event: KeyboardEvent, state: State, undo: () => void): void {
  const target = event.target as Element | null;
  if (event.defaultPrevented || target?.closest("input, select, textarea")) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    undo();
    event.preventDefault();
    return;
  }
  const here = event.key === "Escape" || (target === document.body && ["ArrowLeft", "ArrowRight"].includes(event.key));
  if (here && thresholdKeys(state)(event)) event.preventDefault();
}

export { batch, effect } from "@preact/signals-core";

const counted = document.getElementById("report-data")?.textContent;
if (counted) void start(embedded(JSON.parse(counted) as Payload));
