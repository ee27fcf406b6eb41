/** Whoever counts elsewhere, as the page asks it: over HTTP, or by messages to the frame around the page. */

import { PendingRequests, type Reply } from "../pending";

export type Question = { readonly what: string } & Readonly<Record<string, unknown>>;
export type Ask = <A>(question: Question, signal?: AbortSignal) => Promise<A>;

export const overHttp: Ask = async <A>(question: Question, signal?: AbortSignal): Promise<A> => {
  let answer: Response;
  try {
    answer = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question), signal: signal ?? null });
  } catch (error) {
    throw signal?.aborted ? error : new Error("The workbench has stopped or cannot be reached");
  }
  const found: unknown = await answer.json().catch(() => ({ error: `The workbench answered ${answer.status}` }));
  if (typeof found === "object" && found !== null && "error" in found) throw new Error(String(found.error));
  return found as A;
};

/** The kernel of a notebook, through the frame around the page. */
export function overMessages(): Ask {
  const pending = new PendingRequests();
  addEventListener("message", ({ source, data }: MessageEvent<Reply>) => source === parent && pending.receive(data));
  return (question) => pending.send((id) => parent.postMessage({ id, question }, "*"));
}
