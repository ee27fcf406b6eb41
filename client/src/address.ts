/** State as text: the hash of the page's address, and the history behind undo. */

import { batch, effect, type Signal, untracked } from "@preact/signals-core";

import { pause } from "./chart/frames";
import { type Look, MOST_AMOUNT, type State } from "./state";

interface Field {
  readonly key: string;
  readonly read: () => string;
  readonly write: (text: string | null) => void;
}

function field<T>(key: string, source: Signal<T>, parse: (text: string) => T | undefined): Field {
  const start = source.peek();
  const text = (value: T): string => (value === null ? "none" : String(value));
  return {
    key,
    read: () => (source.value === start ? "" : text(source.value)),
    write: (value) => {
      source.value = (value === null ? undefined : parse(value)) ?? start;
      if (value === "none") source.value = null as T;
    },
  };
}

const finite = (text: string): number | undefined => {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : undefined;
};
/** Of numbers beyond these sums and ratios would not be numbers. */
const amount = (text: string): number | undefined => {
  const value = finite(text);
  return value !== undefined && Math.abs(value) <= MOST_AMOUNT && (value === 0 || Math.abs(value) >= 1 / MOST_AMOUNT) ? value : undefined;
};
const atLeastZero = (text: string): number | undefined => {
  const value = amount(text);
  return value !== undefined && value >= 0 ? value : undefined;
};
const share = (text: string): number | undefined => {
  const value = finite(text);
  return value !== undefined && value >= 1e-9 && value <= 1 - 1e-9 ? value : undefined;
};
const threshold = (text: string): number | undefined => (text === "Infinity" ? Infinity : finite(text));
const oneOf =
  <T extends string>(...values: T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

/** Some optional signals may be "none"; those that may not ignore it. */
function fields(state: State): Field[] {
  const required = <T>(key: string, source: Signal<T>, parse: (text: string) => T | undefined): Field => {
    const inner = field(key, source, parse);
    return { ...inner, write: (text) => inner.write(text === "none" ? null : text) };
  };
  const parts = state.report.parts.length;
  return [
    required("slice", state.slice, (text) => {
      const value = finite(text);
      return value !== undefined && Number.isInteger(value) && value >= 0 && value < parts ? value : undefined;
    }),
    required("fp", state.costFp, atLeastZero),
    required("fn", state.costFn, atLeastZero),
    required("tp", state.costTp, amount),
    required("tn", state.costTn, amount),
    field("prevalence", state.prevalence, share),
    field("model", state.chosen, (text) => text),
    field("threshold", state.pinned, threshold),
    required("by", state.by, oneOf("score", "depth", "tpr", "fpr")),
    required("gain", state.gainView, oneOf("gain", "count", "lift", "pr")),
    required("money", state.moneyView, oneOf("profit", "benefit")),
    required("calibration", state.calibrationView, oneOf("bins", "smooth", "pav")),
    required("base", state.base, oneOf("thousand", "population", "sample")),
    required("band", state.band, (text) => text === "true"),
    required("hulls", state.hulls, (text) => text === "true"),
    required("folds", state.foldsView, oneOf("none", "each", "vertical", "threshold")),
    required("population", state.population, (text) => ((amount(text) ?? 0) >= 1 ? amount(text) : undefined)),
    required("fixed", state.fixedCost, atLeastZero),
    field("capacity", state.capacity, atLeastZero),
    required("currency", state.currency, (text) => text.slice(0, 8)),
    required("sort", state.sortBy, (text) => text),
    ...(state.filters ? [required("where", state.where, (text) => text)] : []),
    looks(state),
  ];
}

function looks(state: State): Field {
  return {
    key: "looks",
    read: () => [...state.looks.value].map(([name, look]) => `${look}:${encodeURIComponent(name)}`).join(" "),
    write: (text) => {
      const entries = (text ?? "").split(" ").flatMap((entry): [string, Look][] => {
        const [look = "", name = ""] = entry.split(":");
        const known = oneOf("show", "ghost", "hide")(look);
        return known && name ? [[decode(name), known]] : [];
      });
      state.looks.value = new Map(entries);
    },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface Address {
  readonly undo: () => void;
  readonly reset: () => void;
  readonly link: () => string;
}

/** Keep the page's address and the history of states in step with the state. */
export function bindAddress(state: State, onHistory: (canUndo: boolean) => void, gone: AbortSignal): Address {
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
    const counted = state.where.value === state.held.value; // a condition may be refused, and then is no step
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
