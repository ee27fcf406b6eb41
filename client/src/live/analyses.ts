/** What takes longer than a moment, when it is asked for: intervals, bands, tests, a validation, lists of rows. */

import { batch, effect } from "./signals";

import { fileName } from "../chart/export";
import { button, card, download, h, name, scroller, setText, textTable } from "../dom";
import { count, message } from "../format";
import { thresholdAt } from "../math/levels";
import type { State } from "../state/state";
import type { ConfidenceBand } from "../state/views";
import type { Ask } from "./requests";
import type { Facts } from "./live";

interface Sheet { readonly title: string; readonly note: string; readonly rows: readonly Readonly<Record<string, string>>[] }

export function demandCard(state: State, facts: Facts, ask: Ask, rows: (state: State) => Record<string, unknown>): HTMLElement {
  const status = h("p", { class: "caption", role: "status" });
  const found = h("div", { class: "found" });
  let newest = new AbortController();
  const asked = async <A>(what: string, more: Record<string, unknown>, use: (answer: A) => void): Promise<void> => {
    newest.abort();
    const { signal } = (newest = new AbortController());
    status.textContent = "Computing …";
    try {
      const answer = await ask<A>({ what, ...rows(state), ...more, context: state.costs.context.value }, signal);
      if (signal.aborted) return;
      status.textContent = "";
      use(answer);
    } catch (error) {
      if (!signal.aborted) status.textContent = `${message(error)}.`;
    }
  };
  const here = (): Record<string, unknown> => ({ model: state.selection.model.value.name, threshold: threshold(state) });
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
  const list = facts.lists ? [listForm(state, facts, (more) => void asked<string>("list", { ...here(), ...more }, (text) => download(`${fileName(state.selection.model.value.name, "list")}.csv`, text)))] : [];
  return card("demand", "wide", "More analyses", [], h("div", { class: "tools" }, ...buttons), ...list, status, found);
}

function sheetOf({ title, note, rows }: Sheet): HTMLElement[] {
  return [h("h3", {}, name(title)), scroller(`Table: ${title}`, textTable(rows)), h("p", { class: "caption" }, note)];
}

/** JSON knows no infinite numbers. */
function threshold(state: State): number | string {
  const cut = thresholdAt(state.selection.model.value.levels, state.selection.current.value.level);
  return Number.isFinite(cut) ? cut : cut > 0 ? "nobody" : "everybody";
}

/** Who is predicted positive, as a file: the list of a campaign. */
function listForm(state: State, { columns }: Facts, save: (more: Record<string, unknown>) => void): HTMLElement {
  const column = h("select", { id: "list-column" }, h("option", { value: "" }, "row numbers"), ...columns.map((each) => h("option", { value: each }, each)));
  const most = h("input", { type: "number", id: "list-most", min: 0, step: 1, placeholder: "all" });
  const size = h("span", { class: "caption" });
  effect(() => {
    const { levels } = state.selection.model.value;
    const { level } = state.selection.current.value;
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
