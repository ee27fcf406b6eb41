/** The live workbench and the widget: the report's page, its counts asked of a server or of a notebook's kernel. */

import { effect } from "./signals";

import { type Part, type PackedSlice, type Payload, unpackReport, unpackSlice } from "../data";
import { card, h } from "../dom";
import { message } from "../format";
import type { start } from "../main";
import type { Source, Intervals } from "../source";
import type { State } from "../state/state";
import { type Ask, overHttp, overMessages } from "./requests";
import { demandCard } from "./analyses";
import { linked } from "./notebook";
import { rowsCard } from "./row_filter";

declare const rocscope: { start: typeof start };

export interface Facts extends Omit<Payload, "slices"> {
  readonly slices: readonly (PackedSlice & Part)[];
  /** The column that rows are split by. */
  readonly by: string | null;
  readonly columns: readonly string[];
  /** After which a condition is stopped. */
  readonly seconds: number;
  /** Whether rows can be listed. */
  readonly lists: boolean;
}

const framed = document.documentElement.dataset["home"] === "widget";
const ask: Ask = framed ? overMessages() : overHttp;
const tab = Array.from(crypto.getRandomValues(new Uint32Array(2)), String).join("");
let shown = new AbortController();

function sourceOf(facts: Facts): Source {
  const rows = (part: number, where = ""): Record<string, unknown> => {
    const { kind, name } = facts.slices[part]!;
    return { where, by: facts.by, kind, name };
  };
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
  const rowsOf = (state: State): Record<string, unknown> => {
    const { kind, name } = state.rows.shown.value;
    return { where: state.rows.applied.value, by: facts.by, kind, name };
  };
  const state = await rocscope.start(source, {
    above: (state) => [rowsCard(state, facts, (by) => void split(by))],
    cards: (state) => [demandCard(state, facts, ask, rowsOf)],
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
