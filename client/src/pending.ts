/** Requests that wait for an answer by message: to a worker, or to the frame around the page. */

import type { Question } from "./open/messages";
import type { Answers } from "./open/worker";

export interface Reply { readonly id?: number; readonly answer?: unknown; readonly error?: string; readonly progress?: number }

interface Waiting { resolve(answer: never): void; reject(error: Error): void; readonly progress?: ((share: number) => void) | undefined }

export class PendingRequests {
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  send<A>(post: (id: number) => void, progress?: (share: number) => void): Promise<A> {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.last, { resolve: resolve as Waiting["resolve"], reject, progress });
      post(this.last);
    });
  }

  receive({ id, answer, error, progress }: Reply): void {
    const request = id === undefined ? undefined : this.waiting.get(id);
    if (!request) return;
    if (progress !== undefined) return request.progress?.(progress);
    this.waiting.delete(id!);
    if (error === undefined) request.resolve(answer as never);
    else request.reject(new Error(error));
  }

  rejectAll(reason: string): void {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
  }
}

export class WorkerClient {
  private worker: Worker | null = null;
  private readonly pending = new PendingRequests();

  /** @param text the worker's script, which the content security policy wants in the page */
  constructor(private readonly text: string) {}

  ask<A extends Question["ask"]>(question: Question & { ask: A }, progress?: (share: number) => void): Promise<Awaited<ReturnType<Answers[A]>>> {
    return this.pending.send((id) => (this.worker ??= this.started()).postMessage({ id, question }), progress);
  }

  /** End what is going on; the next question starts anew. */
  cancel(): void {
    this.worker?.terminate();
    this.worker = null;
    this.pending.rejectAll("cancelled");
  }

  private started(): Worker {
    const url = URL.createObjectURL(new Blob([this.text], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => this.pending.receive(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.pending.rejectAll(`internal error: ${event.message || "there may be too little memory"}`);
    });
    return worker;
  }
}
