/** Which rows are shown: a condition in SQL, and the column that splits them. */

import { COUNTING, effect } from "./signals";

import { button, h, select } from "../dom";
import type { State } from "../state/state";
import type { Facts } from "./live";

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
