/** What most of the page reads of its state; apart from `state.ts`, as bundles without the signals use it too. */

import type { Model } from "../data";
import type { Context } from "../math/context";
import { samplePrevalence } from "../math/levels";
import type { State } from "./state";

export const modelOf = ({ selection }: State): Model => selection.model.value;

export const levelOf = ({ selection }: State): number => selection.current.value.level;

export const contextOf = ({ costs }: State): Context => costs.context.value;

/** The prevalence of a model's cases; not by the context, so that costs redraw nothing. */
export const shareOf = (state: State, { levels }: Model = modelOf(state)): number => state.costs.prevalence.value ?? samplePrevalence(levels);

/** What the status of the rows says while they are counted. */
export const COUNTING = "Counting …";
