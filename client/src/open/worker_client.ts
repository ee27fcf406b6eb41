/** The worker as the page sees it: questions out, answers and progress in. */

import { PendingRequests, type Reply } from "../pending";
import type { Answers, Question } from "./messages";

export class WorkerClient {
  private worker: Worker | null = null;
  private readonly pending = new PendingRequests();

  /** @param text the worker's script, which the content security policy wants in the page */
  constructor(private readonly text: string) {}

  ask<A extends Question["ask"]>(question: Question & { ask: A }, progress?: (share: number) => void): Promise<Answers[A]> {
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
