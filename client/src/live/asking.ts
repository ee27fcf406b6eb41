/** Whoever counts elsewhere, as the page asks it: over HTTP, or by messages to the frame around the page. */

import type { Context } from "../math/context";

export type Question = { readonly what: string } & Readonly<Record<string, unknown>>;
export type Ask = <A>(question: Question, signal?: AbortSignal) => Promise<A>;

/** The server that the page came from. */
export const overHttp: Ask = async <A>(question: Question, signal?: AbortSignal): Promise<A> => {
  let answer: Response;
  try {
    answer = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question), signal: signal ?? null });
  } catch (error) {
    throw signal?.aborted ? error : new Error("The workbench has ended, or cannot be reached");
  }
  const found: unknown = await answer.json().catch(() => ({ error: `The workbench answered ${answer.status}` }));
  if (typeof found === "object" && found !== null && "error" in found) throw new Error(String(found.error));
  return found as A;
};

/** The kernel of a notebook, by way of the frame around the page. */
export function overMessages(): Ask {
  const waiting = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>();
  let last = 0;
  addEventListener("message", ({ source, data }: MessageEvent<{ id?: number; answer?: unknown; error?: string }>) => {
    const found = source === parent && data.id !== undefined ? waiting.get(data.id) : undefined;
    if (!found) return;
    waiting.delete(data.id!);
    if (data.error === undefined) found.resolve(data.answer as never);
    else found.reject(new Error(data.error));
  });
  return (question) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve: resolve as (answer: never) => void, reject });
      parent.postMessage({ id: last, question }, "*");
    });
}

/** A context as Python reads it. */
export function contextOf({ prevalence, costFp, costFn, costTp, costTn }: Context): Record<string, number | null> {
  return { target_prevalence: prevalence, cost_fp: costFp, cost_fn: costFn, cost_tp: costTp, cost_tn: costTn };
}
