/** What the reader has chosen, and what follows from it. Everything on the page is a function of this. */

import { batch, computed, effect, type ReadonlySignal, signal, type Signal } from "@preact/signals-core";

import { stir } from "./chart/frames";
import type { Model, Report, Slice } from "./data";
import { number, percent } from "./format";
import { type Source, surer } from "./source";
import { type Context, prevalenceOf, rewardsErrors } from "./math/context";
import { bestLevel, bestWithin, cheapest, type Choice } from "./math/hull";
import { levelAt, type Rates, rates, ratesAt, samplePrevalence } from "./math/levels";
import type { Campaign } from "./math/profit";
import { type Region, regions } from "./math/regions";
import { type Palette, palette, strokeOf } from "./palette";

export type Look = "show" | "ghost" | "hide";
export type ThresholdBy = "score" | "depth" | "tpr" | "fpr";
export type GainView = "gain" | "count" | "lift" | "pr";
export type FoldsView = "none" | "each" | "vertical" | "threshold";
export type MoneyView = "profit" | "benefit";
export type CalibrationView = "bins" | "smooth" | "pav";
export type Base = "thousand" | "population" | "sample";

/** More models than this, and those off the hull are grey until they are chosen. */
export const MOST_COLOURED = 7;

/** Costs and sizes beyond this are taken for slips: sums of their products would overflow. */
export const MOST_AMOUNT = 1e12;

export interface DrawnBand {
  readonly model: string;
  readonly x: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly method: string;
}

export interface State {
  readonly report: Report;
  /** Whether rows can be held to a condition. */
  readonly filters: boolean;
  readonly slice: Signal<number>;
  readonly costFp: Signal<number>;
  readonly costFn: Signal<number>;
  readonly costTp: Signal<number>;
  readonly costTn: Signal<number>;
  readonly prevalence: Signal<number | null>;
  /** The model that the reader picked; null follows the best. */
  readonly chosen: Signal<string | null>;
  /** The threshold that the reader set; null follows the best. */
  readonly pinned: Signal<number | null>;
  readonly by: Signal<ThresholdBy>;
  readonly gainView: Signal<GainView>;
  readonly moneyView: Signal<MoneyView>;
  readonly calibrationView: Signal<CalibrationView>;
  readonly base: Signal<Base>;
  readonly band: Signal<boolean>;
  /** Whether each model's own hull is drawn. */
  readonly hulls: Signal<boolean>;
  readonly foldsView: Signal<FoldsView>;
  readonly population: Signal<number>;
  readonly fixedCost: Signal<number>;
  readonly capacity: Signal<number | null>;
  readonly currency: Signal<string>;
  readonly looks: Signal<ReadonlyMap<string, Look>>;
  readonly sortBy: Signal<string>;
  /** A condition that rows are held to, where the source knows conditions. */
  readonly where: Signal<string>;
  /** A band around one model's ROC curve that somebody asked for. */
  readonly drawn: Signal<DrawnBand | null>;

  /** The rows that are shown; those before, while others are counted. */
  readonly rows: ReadonlySignal<Slice>;
  /** The condition that the rows shown are held to: while others are counted, or another was refused, not `where`. */
  readonly held: ReadonlySignal<string>;
  /** What is said while rows are counted, or where they cannot be. */
  readonly waiting: ReadonlySignal<string>;
  /** Each fold, where these are wanted and there are any. */
  readonly folds: ReadonlySignal<readonly Slice[]>;
  readonly models: ReadonlySignal<readonly Model[]>;
  readonly context: ReadonlySignal<Context>;
  readonly campaign: ReadonlySignal<Campaign>;
  readonly regions: ReadonlySignal<readonly Region[]>;
  /** Share of the population that can be contacted, 1 where there is no limit. */
  readonly within: ReadonlySignal<number>;
  /** The best level of each model in the context and within the capacity; null where the model is hidden. */
  readonly bestLevels: ReadonlySignal<readonly (number | null)[]>;
  readonly best: ReadonlySignal<Choice>;
  readonly bestModel: ReadonlySignal<number>;
  readonly current: ReadonlySignal<Choice>;
  readonly model: ReadonlySignal<Model>;
  /** Target prevalence, or that of the current model's sample. */
  readonly share: ReadonlySignal<number>;
  readonly rates: ReadonlySignal<Rates>;
  readonly invalid: ReadonlySignal<boolean>;
  readonly styles: ReadonlySignal<readonly Style[]>;
  /** The models that are drawn: grey ones first, the current one last. */
  readonly drawing: ReadonlySignal<readonly Model[]>;
  /** What a screen reader says of the threshold. */
  readonly spoken: ReadonlySignal<string>;
}

export function createState(source: Source, first: Slice): State {
  const { report } = source;
  const start = report.context;
  const inputs = {
    slice: signal(0),
    costFp: signal(start.costFp),
    costFn: signal(start.costFn),
    costTp: signal(start.costTp),
    costTn: signal(start.costTn),
    prevalence: signal(start.prevalence),
    chosen: signal<string | null>(null),
    pinned: signal<number | null>(null),
    by: signal<ThresholdBy>("score"),
    gainView: signal<GainView>("gain"),
    moneyView: signal<MoneyView>("profit"),
    calibrationView: signal<CalibrationView>("bins"),
    base: signal<Base>("thousand"),
    band: signal(false),
    hulls: signal(false),
    foldsView: signal<FoldsView>("none"),
    population: signal(1000),
    fixedCost: signal(0),
    capacity: signal<number | null>(null),
    currency: signal(""),
    looks: signal<ReadonlyMap<string, Look>>(new Map()),
    sortBy: signal("cost"),
    where: signal(""),
    drawn: signal<DrawnBand | null>(null),
  };
  const { rows, held, waiting } = counted(source, inputs.slice, inputs.where, first);
  const models = computed(() => rows.value.models);
  const context = computed<Context>(() => ({
    prevalence: inputs.prevalence.value,
    costFp: inputs.costFp.value,
    costFn: inputs.costFn.value,
    costTp: inputs.costTp.value,
    costTn: inputs.costTn.value,
  }));
  const campaign = computed<Campaign>(() => ({
    population: inputs.population.value,
    fixedCost: inputs.fixedCost.value,
    capacity: inputs.capacity.value,
  }));
  const hidden = (model: Model): boolean => inputs.looks.value.get(model.name) === "hide";
  const within = computed(() => Math.min(1, (inputs.capacity.value ?? Infinity) / inputs.population.value));
  const bestLevels = computed(() =>
    models.value.map((model) => (hidden(model) ? null : bestWithin(model.levels, context.value, within.value))),
  );
  const all = computed(() => models.value.map((model) => model.levels));
  const best = computed<Choice>(
    () => cheapest(all.value, bestLevels.value, context.value) ?? { model: 0, level: 0 },
  );
  const current = computed<Choice>(() => {
    const picked = models.value.find((model) => model.name === inputs.chosen.value);
    const model = picked ?? models.value[best.value.model];
    if (!model) return best.value;
    const pinned = inputs.pinned.value;
    const level = pinned === null ? bestLevels.value[model.index] : levelAt(model.levels, pinned);
    return { model: model.index, level: level ?? bestLevel(model.levels, context.value) };
  });
  const model = computed(() => models.value[current.value.model]!);
  const share = computed(() => prevalenceOf(context.value, samplePrevalence(model.value.levels)));
  const styles = computed(() => stylesOf(models.value, onHull.value, inputs.looks.value, inputs.chosen.value, model.value.index, palette.value));
  const found = computed(() => rates(...ratesAt(model.value.levels, current.value.level), share.value));
  const onHull = computed(() => regions(models.value.map((m) => (hidden(m) ? null : m.levels))));
  const folds = foldsOf(source, inputs.foldsView, inputs.where);
  effect(() => {
    for (const input of Object.values(inputs)) void input.value;
    void [rows.value, folds.value, palette.value];
    stir();
  });
  return {
    report,
    filters: source.filters ?? false,
    ...inputs,
    rows,
    held,
    waiting,
    folds,
    models,
    context,
    campaign,
    within,
    bestLevels,
    best,
    bestModel: computed(() => best.value.model),
    current,
    model,
    share,
    regions: onHull,
    styles,
    drawing: computed(() => {
      const rank = ({ index }: Model): number => (index === model.value.index ? 2 : styles.value[index]!.place === null ? 0 : 1);
      return models.value.filter(({ index }) => styles.value[index]!.look !== "hide").sort((a, b) => rank(a) - rank(b));
    }),
    rates: found,
    spoken: computed(() => spoken(model.value, current.value.level, found.value)),
    invalid: computed(() => rewardsErrors(context.value)),
  };
}

/** The rows of the part that is asked for: the newest request wins, and an older answer is dropped. */
function counted(source: Source, part: Signal<number>, where: Signal<string>, first: Slice): Record<"held" | "waiting", Signal<string>> & { rows: Signal<Slice> } {
  const rows = signal(first);
  const held = signal("");
  const waiting = signal("");
  let newest = new AbortController();
  effect(() => {
    newest.abort();
    const { signal: given } = (newest = new AbortController());
    const asked = { part: part.value, where: where.value };
    const failed = (error: unknown): void => {
      if (!given.aborted) waiting.value = error instanceof Error ? error.message : String(error);
    };
    const show = (slice: Slice): void => {
      if (given.aborted) return;
      batch(() => ([rows.value, held.value, waiting.value] = [slice, asked.where, ""]));
      source.sureness?.(asked, given).then((sure) => {
        const models = slice.models.map((model, i) => surer(model, sure, i));
        if (!given.aborted) rows.value = { ...slice, models, comparisons: sure.comparisons };
      }, failed);
    };
    const found = source.counts(asked, given);
    if (!(found instanceof Promise)) return show(found);
    waiting.value = "Counting …";
    found.then(show, failed);
  });
  return { rows, held, waiting };
}

/** The folds, counted when they are asked for first. */
function foldsOf(source: Source, view: Signal<FoldsView>, where: Signal<string>): Signal<readonly Slice[]> {
  const folds = signal<readonly Slice[]>([]);
  const places = source.report.parts.flatMap(({ kind }, part) => (kind === "fold" ? [part] : []));
  let counted: string | null = null;
  effect(() => {
    const condition = where.value;
    if (view.value === "none" || !places.length || counted === condition) return;
    counted = condition;
    const { signal: never } = new AbortController();
    const found = places.map(async (part) => source.counts({ part, where: condition, aside: true }, never));
    const whole = (each: PromiseSettledResult<Slice>): Slice[] => (each.status === "fulfilled" ? [each.value] : []); // a fold may be left with one class
    void Promise.allSettled(found).then((all) => counted === condition && (folds.value = all.flatMap(whole)));
  });
  return folds;
}

/** How a model is drawn: its place among the coloured ones, or null where it is grey. */
export interface Style {
  readonly look: Look;
  readonly place: number | null;
  readonly dash: readonly number[];
  readonly stroke: string;
  readonly width: number;
}

function stylesOf(
  models: readonly Model[],
  all: readonly Region[],
  looks: ReadonlyMap<string, Look>,
  chosen: string | null,
  current: number,
  { hues, ghost, quiet }: Palette,
): Style[] {
  const onHull = new Set(all.map((region) => region.model));
  const many = models.length > MOST_COLOURED;
  let place = 0;
  return models.map((model) => {
    const byDefault: Look = !many || onHull.has(model.index) || chosen === model.name ? "show" : "ghost";
    const look = looks.get(model.name) ?? byDefault;
    const slot = many ? (look === "show" ? place++ : 0) : model.index;
    const { hue, dash } = strokeOf(slot);
    const now = model.index === current;
    if (look !== "show") return { look, place: null, dash, stroke: now ? quiet : ghost, width: now ? 2.6 : 1 };
    return { look, place: slot, dash, stroke: hues[hue] ?? quiet, width: now ? 2.6 : 1.7 };
  });
}

function spoken({ name, levels }: Model, level: number, { tpr, fpr, depth }: Rates): string {
  const threshold = number(levels.threshold[level] ?? Infinity);
  return `${name}, threshold ${threshold}: ${percent(depth)} predicted positive, true positive rate ${percent(tpr)}, false positive rate ${percent(fpr)}`;
}

/** Turn to other rows; another class has probabilities, and a prevalence, of its own. */
export function pickSlice(state: State, slice: number): void {
  batch(() => {
    state.slice.value = slice;
    if (state.report.parts[slice]?.kind !== "class") return;
    state.prevalence.value = null;
    state.pinned.value = null;
  });
}

export function setLook(state: State, model: string, look: Look): void {
  state.looks.value = new Map(state.looks.value).set(model, look);
}

/** Move along the current model's levels; away from the best point the threshold stays where it was put. */
export function setLevel(state: State, model: Model, level: number): void {
  const at = Math.max(0, Math.min(model.levels.size - 1, level));
  batch(() => {
    state.chosen.value = model.name;
    state.pinned.value = model.levels.threshold[at] ?? Infinity;
  });
}

export function chooseModel(state: State, name: string | null): void {
  batch(() => {
    state.chosen.value = name;
    state.pinned.value = null;
  });
}

/** Return to the best model and threshold of the context. */
export function toBest(state: State): void {
  chooseModel(state, null);
}

export function stepModel(state: State, by: number): void {
  const visible = state.models.value.filter((model) => state.looks.value.get(model.name) !== "hide");
  const at = visible.findIndex((model) => model.index === state.current.value.model);
  const next = visible[(at + by + visible.length) % visible.length];
  if (next) chooseModel(state, next.name);
}
