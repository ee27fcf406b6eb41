/** The state of the page by topic: what the reader has set, and what follows from it. */

import { batch, computed, effect, type ReadonlySignal, Signal, signal } from "@preact/signals-core";

import { markChange } from "../chart/scheduling";
import { type Model, type Slice, type Source, textAt, withIntervals } from "../data";
import { message, percent } from "../format";
import { type Campaign, type Context, prevalenceOf, rewardsErrors } from "../math/context";
import { bestLevel, bestWithin, cheapest, type Choice, type Region, regions } from "../math/hull";
import { isAt, levelAt, rates, ratesAt, samplePrevalence } from "../math/levels";
import { type Palette, palette, strokeOf } from "../palette";
import { COUNTING } from "./current";

/** What the page calls these; "acting" on a case as in "contacting everybody". */
type Word = "tpr" | "fpr" | "tnr" | "precision" | "depth" | "acting" | "threshold";
export type Words = Readonly<Record<Word, string>>;

export type Audience = "learning" | "clinical" | "marketing";

const WORDS: Record<Audience, Words> = {
  learning: { tpr: "True positive rate", fpr: "False positive rate", tnr: "True negative rate", precision: "Precision", depth: "Share predicted positive", acting: "treating", threshold: "Act if score ≥" },
  clinical: { tpr: "Sensitivity", fpr: "1 − specificity", tnr: "Specificity", precision: "PPV", depth: "Share treated", acting: "treating", threshold: "Treat if risk ≥" },
  marketing: { tpr: "Responders reached", fpr: "Others contacted", tnr: "Others spared", precision: "Response rate", depth: "Share contacted", acting: "contacting", threshold: "Contact if score ≥" },
};

export const AUDIENCES = [["learning", "machine learning"], ["clinical", "clinical"], ["marketing", "marketing"]] as const;

export const wordsOf = ({ views }: State): Words => WORDS[views.audience.value];

/** Words within a sentence: an abbreviation keeps its capitals. */
export function lower(word: string): string {
  return word === word.toUpperCase() ? word : word.charAt(0).toLowerCase() + word.slice(1);
}

/** The newest request wins, and an older answer is dropped. */
export function createRows(source: Source, first: Slice, { folds, segments }: { folds: ReadonlySignal<FoldsView>; segments: ReadonlySignal<boolean> }) {
  const part = signal(0);
  const where = signal("");
  const shown = signal(first);
  const applied = signal("");
  const status = signal("");
  let newest = new AbortController();
  effect(() => {
    newest.abort();
    const { signal: aborted } = (newest = new AbortController());
    const request = { part: part.value, where: where.value };
    const failed = (error: unknown): void => {
      if (!aborted.aborted) status.value = message(error);
    };
    const show = (slice: Slice): void => {
      if (aborted.aborted) return;
      batch(() => ([shown.value, applied.value, status.value] = [slice, request.where, ""]));
      source.intervals?.(request, aborted).then((intervals) => {
        if (!aborted.aborted) shown.value = withIntervals(slice, intervals);
      }, failed);
    };
    const found = source.counts(request, aborted);
    if (!(found instanceof Promise)) return show(found);
    status.value = COUNTING;
    found.then(show, failed);
  });
  return {
    part,
    where,
    /** The rows on the page: the earlier ones while others are counted. */
    shown,
    /** The condition that the rows shown meet; not `where` while others are counted or a condition is rejected. */
    applied,
    status,
    folds: createParts(source, "fold", () => folds.value !== "none", where),
    segments: createParts(source, "segment", () => segments.value, where),
  };
}

/** All parts of a kind, counted when they are first asked for. */
function createParts(source: Source, wanted: Slice["kind"], shown: () => boolean, where: ReadonlySignal<string>): ReadonlySignal<readonly Slice[]> {
  const slices = signal<readonly Slice[]>([]);
  const parts = source.report.parts.flatMap(({ kind }, part) => (kind === wanted ? [part] : []));
  let counted: string | null = null;
  effect(() => {
    const condition = where.value;
    if (!shown() || !parts.length || counted === condition) return;
    counted = condition;
    const { signal: never } = new AbortController();
    const found = parts.map(async (part) => source.counts({ part, where: condition, aside: true }, never));
    const complete = (each: PromiseSettledResult<Slice>): Slice[] => (each.status === "fulfilled" ? [each.value] : []); // a part may lack a class
    void Promise.allSettled(found).then((all) => counted === condition && (slices.value = all.flatMap(complete)));
  });
  return slices;
}

export type GainView = "gain" | "count" | "lift" | "pr";
export type FoldsView = "none" | "each" | "vertical" | "threshold";
type SecondView = GainView | "profit" | "benefit";

export interface ConfidenceBand {
  readonly model: string;
  readonly x: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly method: string;
}

/** The chart that an audience sees first. */
export const FIRST_VIEW: Record<Audience, SecondView> = { learning: "gain", clinical: "benefit", marketing: "profit" };

export function createViews(audience: Audience = "learning") {
  return {
    audience: signal(audience),
    second: signal(FIRST_VIEW[audience]),
    /** Whether axes of probabilities go from 0 to 1, whatever the scores. */
    full: signal(false),
    measures: signal(false),
    calibration: signal<"bins" | "smooth" | "pav">("bins"),
    folds: signal<FoldsView>("none"),
    base: signal<"thousand" | "population" | "sample">("thousand"),
    segments: signal(false),
    band: signal(false),
    hulls: signal(false),
    /** A simultaneous band around one model's ROC curve, once it was requested. */
    requestedBand: signal<ConfidenceBand | null>(null),
  };
}

export function createCosts(start: Context) {
  const [fp, fn, tp, tn] = [signal(start.cost_fp), signal(start.cost_fn), signal(start.cost_tp), signal(start.cost_tn)];
  const prevalence = signal(start.target_prevalence);
  const context = computed<Context>(() => ({ target_prevalence: prevalence.value, cost_fp: fp.value, cost_fn: fn.value, cost_tp: tp.value, cost_tn: tn.value }));
  return { fp, fn, tp, tn, /** null: that of the sample */ prevalence, context, rewardsErrors: computed(() => rewardsErrors(context.value)) };
}

export function createCampaign() {
  const [population, fixedCost, currency] = [signal(1000), signal(0), signal("")];
  const capacity = signal<number | null>(null);
  return {
    population,
    fixedCost,
    capacity,
    currency,
    terms: computed<Campaign>(() => ({ population: population.value, fixedCost: fixedCost.value, capacity: capacity.value })),
    /** Share of the population that can be contacted, 1 without a limit. */
    within: computed(() => Math.min(1, (capacity.value ?? Infinity) / population.value)),
  };
}

export type Look = "show" | "ghost" | "hide";

/** With more models than this, those off the hull are grey until the reader picks them: more lines cannot be told apart at a glance. */
export const MOST_COLOURED = 12;

/** How a model is drawn: its place among the coloured ones, or null where it is grey. */
export interface Style { readonly look: Look; readonly place: number | null; readonly dash: readonly number[]; readonly stroke: string; readonly width: number }

export function createModels(rows: ReadonlySignal<Slice>) {
  const all = computed(() => rows.value.models);
  const looks = signal<ReadonlyMap<string, Look>>(new Map());
  const hidden = ({ name }: Model): boolean => looks.value.get(name) === "hide";
  return { all, looks, hidden, sortBy: signal("cost"), regions: computed(() => regions(all.value.map((model) => (hidden(model) ? null : model.levels)))) };
}

export function stylesOf(models: readonly Model[], hull: readonly Region[], looks: ReadonlyMap<string, Look>, chosen: string | null, current: number, { hues, ghost, quiet }: Palette): Style[] {
  const onHull = new Set(hull.map((region) => region.model));
  const many = models.length > MOST_COLOURED;
  let place = 0;
  return models.map((model) => {
    const byDefault: Look = !many || onHull.has(model.index) || chosen === model.name ? "show" : "ghost";
    const look = looks.get(model.name) ?? byDefault;
    const slot = many ? (look === "show" ? place++ : 0) : model.index;
    const { hue, dash } = strokeOf(slot);
    const isCurrent = model.index === current;
    if (look !== "show") return { look, place: null, dash, stroke: isCurrent ? quiet : ghost, width: isCurrent ? 2.6 : 1 };
    return { look, place: slot, dash, stroke: hues[hue] ?? quiet, width: isCurrent ? 2.6 : 1.7 };
  });
}

export type ThresholdBy = "score" | "depth" | "tpr" | "fpr";

export function createSelection(models: ReturnType<typeof createModels>, { context }: ReturnType<typeof createCosts>, { within }: ReturnType<typeof createCampaign>) {
  const { all } = models;
  const chosen = signal<string | null>(null);
  const pinned = signal<number | null>(null);
  const bestLevels = computed(() => all.value.map((model) => (models.hidden(model) ? null : bestWithin(model.levels, context.value, within.value))));
  const best = computed<Choice>(() => cheapest(all.value.map(({ levels }) => levels), bestLevels.value, context.value) ?? { model: 0, level: 0 });
  const current = computed<Choice>(() => {
    const model = all.value.find(({ name }) => name === chosen.value) ?? all.value[best.value.model];
    if (!model) return best.value;
    const level = pinned.value === null ? bestLevels.value[model.index] : levelAt(model.levels, pinned.value);
    return { model: model.index, level: level ?? bestLevel(model.levels, context.value) };
  });
  const model = computed(() => all.value[current.value.model]!);
  const found = computed(() => rates(...ratesAt(model.value.levels, current.value.level), prevalenceOf(context.value, samplePrevalence(model.value.levels))));
  return {
    /** The model that the reader picked; null follows the best. */
    chosen,
    /** The threshold that the reader set; null follows the best. */
    pinned,
    by: signal<ThresholdBy>("score"),
    /** The best level of each model in the context and within the capacity; null where the model is hidden. */
    bestLevels,
    best,
    current,
    model,
    rates: found,
    /** The threshold that was typed, where it is between stored ones and stands for the one at or above it; else null. */
    unstored: computed(() => (pinned.value === null || isAt(model.value.levels, current.value.level, pinned.value) || !Number.isFinite(pinned.value) ? null : pinned.value)),
    /** Whether the reader moved away from the best point. */
    moved: computed(() => current.value.model !== best.value.model || current.value.level !== best.value.level),
    spoken: computed(() => {
      const { tpr, fpr, depth } = found.value;
      const threshold = textAt(model.value, current.value.level);
      return `${model.value.name}, threshold ${threshold}: ${percent(depth)} predicted positive, true positive rate ${percent(tpr)}, false positive rate ${percent(fpr)}`;
    }),
    styles: computed(() => stylesOf(all.value, models.regions.value, models.looks.value, chosen.value, model.value.index, palette.value)),
  };
}

export type State = ReturnType<typeof createState>;

export function createState(source: Source, first: Slice) {
  const { report } = source;
  const views = createViews(report.audience);
  const rows = createRows(source, first, views);
  const costs = createCosts(report.context);
  const campaign = createCampaign();
  const models = createModels(rows.shown);
  const { styles, ...selection } = createSelection(models, costs, campaign);
  effect(() => {
    for (const topic of [rows, views, costs, campaign, models, selection]) for (const each of Object.values(topic)) if (each instanceof Signal) void each.value;
    void palette.value;
    markChange();
  });
  /** The models that are drawn: grey ones first, the current one last. */
  const drawn = computed(() => {
    const current = selection.model.value.index; // not by its level, so that a threshold or a cost that moves redraws no curve
    const rank = ({ index }: Model): number => (index === current ? 2 : styles.value[index]!.place === null ? 0 : 1);
    return models.all.value.filter(({ index }) => styles.value[index]!.look !== "hide").sort((a, b) => rank(a) - rank(b));
  });
  return { report, /** whether rows can be filtered by a condition */ filters: source.filters ?? false, rows, views, costs, campaign, models: { ...models, styles, drawn }, selection };
}

/** Show other rows; another class has probabilities and a prevalence of its own. */
export function showRows({ rows, report, costs, selection }: State, part: number): void {
  batch(() => {
    rows.part.value = part;
    if (report.parts[part]?.kind !== "class") return;
    costs.prevalence.value = null;
    selection.pinned.value = null;
  });
}

export function setLook({ models: { looks } }: State, model: string, look: Look): void {
  looks.value = new Map(looks.value).set(model, look);
}

/** Move along the current model's levels; away from the best point the threshold stays where it was put. */
export function setLevel(state: State, model: Model, level: number): void {
  const at = Math.max(0, Math.min(model.levels.size - 1, level));
  chooseModel(state, model.name, at && !model.thresholdText ? Number(textAt(model, at)) : (model.levels.threshold[at] ?? Infinity));
}

/** Look at a model, or at the best of all, at a threshold or at its best one. */
export function chooseModel({ selection }: State, name: string | null, threshold: number | null = null): void {
  batch(() => {
    selection.chosen.value = name;
    selection.pinned.value = threshold;
  });
}

export function stepModel(state: State, by: number): void {
  const visible = state.models.all.value.filter((model) => !state.models.hidden(model));
  const at = visible.findIndex((model) => model.index === state.selection.current.value.model);
  const next = visible[(at + by + visible.length) % visible.length];
  if (next) chooseModel(state, next.name);
}
