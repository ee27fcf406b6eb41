/** State as text: the hash of the page's address, and the history behind undo. */

import { batch, effect, type Signal, untracked } from "@preact/signals-core";

import { pause } from "./chart/scheduling";
import { MOST_AMOUNT } from "./math/context";
import type { Look, State } from "./state/state";

interface Field {
  readonly key: string;
  readonly read: () => string;
  readonly write: (text: string | null) => void;
}

type Parse<T> = (text: string) => T | undefined;

/** A signal under its name in the address; "none" stands for null where the signal may be null. */
function field<T>(key: string, source: Signal<T>, parse: Parse<NonNullable<T>>, nullable = false): Field {
  const start = source.peek();
  return {
    key,
    read: () => (source.value === start ? "" : String(source.value ?? "none")),
    write: (text) => {
      source.value = nullable && text === "none" ? (null as T) : ((text === null ? undefined : parse(text)) ?? start);
    },
  };
}

const finite: Parse<number> = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined);
const numberIf =
  (test: (value: number) => boolean): Parse<number> =>
  (text) => {
    const value = finite(text);
    return value !== undefined && test(value) ? value : undefined;
  };
/** Products and ratios of larger or smaller numbers overflow. */
const isAmount = (value: number): boolean => value === 0 || (Math.abs(value) <= MOST_AMOUNT && Math.abs(value) >= 1 / MOST_AMOUNT);
const amount = numberIf(isAmount);
const atLeastZero = numberIf((value) => isAmount(value) && value >= 0);
const flag: Parse<boolean> = (text) => text === "true";
const anyText: Parse<string> = (text) => text;
const oneOf =
  <T extends string>(...values: T[]): Parse<T> =>
  (text) =>
    values.find((value) => value === text);

function fields({ report, filters, rows, costs, campaign, views, selection, models }: State): Field[] {
  return [
    field("slice", rows.part, numberIf((value) => report.parts[value] !== undefined)),
    field("fp", costs.fp, atLeastZero),
    field("fn", costs.fn, atLeastZero),
    field("tp", costs.tp, amount),
    field("tn", costs.tn, amount),
    field("prevalence", costs.prevalence, numberIf((value) => value >= 1e-9 && value <= 1 - 1e-9), true),
    field("model", selection.chosen, anyText, true),
    field("threshold", selection.pinned, (text) => (text === "Infinity" ? Infinity : finite(text)), true),
    field("by", selection.by, oneOf("score", "depth", "tpr", "fpr")),
    field("words", views.audience, oneOf("learning", "clinical", "marketing")),
    field("view", views.second, oneOf("gain", "count", "lift", "pr", "profit", "benefit")),
    field("full", views.full, flag),
    field("measures", views.measures, flag),
    field("calibration", views.calibration, oneOf("bins", "smooth", "pav")),
    field("base", views.base, oneOf("thousand", "population", "sample")),
    field("band", views.band, flag),
    field("hulls", views.hulls, flag),
    field("folds", views.folds, oneOf("none", "each", "vertical", "threshold")),
    field("population", campaign.population, numberIf((value) => isAmount(value) && value >= 1)),
    field("fixed", campaign.fixedCost, atLeastZero),
    field("capacity", campaign.capacity, atLeastZero, true),
    field("currency", campaign.currency, (text) => text.slice(0, 8)),
    field("sort", models.sortBy, anyText),
    ...(filters ? [field("where", rows.where, anyText)] : []),
    looksField(models.looks),
  ];
}

function looksField(looks: State["models"]["looks"]): Field {
  return {
    key: "looks",
    read: () => new URLSearchParams([...looks.value]).toString(),
    write: (text) => {
      const entries = [...new URLSearchParams(text ?? "")] as [string, Look][];
      looks.value = new Map(entries.filter(([name, look]) => name && oneOf("show", "ghost", "hide")(look)));
    },
  };
}

/** Keep the page's address and the history of states in step with the state. */
export function bindAddress(state: State, onHistory: (canUndo: boolean) => void, gone: AbortSignal) {
  const all = fields(state);
  const write = (hash: string): void => {
    const wanted = new URLSearchParams(hash.replace(/^#/, ""));
    batch(() => all.forEach(({ key, write: set }) => set(wanted.get(key))));
  };
  const read = (): string => {
    const wanted = new URLSearchParams();
    for (const { key, read: get } of all) {
      const text = get();
      if (text) wanted.set(key, text);
    }
    return wanted.toString();
  };
  const past: string[] = [];
  let settled = "";
  const settle = (): void => {
    const latest = read();
    const counted = state.rows.where.value === state.rows.applied.value; // a rejected condition is no step
    if (latest !== settled && counted) {
      past.push(settled);
      settled = latest;
      show(latest);
    }
    onHistory(past.length > 0 || latest !== settled);
  };
  write(location.hash);
  settled = read();
  const forget = effect(() => {
    void pause.value;
    untracked(settle);
  });
  addEventListener("hashchange", () => write(location.hash), { signal: gone });
  gone.addEventListener("abort", () => {
    forget();
    show("");
  });
  return {
    undo: () => {
      settle();
      const before = read() === settled ? past.pop() : settled;
      if (before === undefined) return;
      settled = before;
      write(before);
      show(before);
      onHistory(past.length > 0);
    },
    reset: () => write(""),
    link: () => `${location.href.split("#")[0]}#${read()}`,
  };
}

/** A page inside a sandboxed frame has no address of its own to change. */
function show(hash: string): void {
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    /* the state lives on in the page */
  }
}
