/** The worker as the page sees it: questions out, answers and progress in. */

import type { Answers, Question, Told } from "./messages";

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
  readonly progress: (share: number) => void;
}

/** Started from text that is in the page, as the policy wants it. */
export class Asking {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(private readonly text: string) {}

  ask<A extends Question["ask"]>(question: Question & { ask: A }, progress: (share: number) => void = () => undefined): Promise<Answers[A]> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as Waiting["resolve"], reject, progress });
      (this.worker ??= this.started()).postMessage({ id, question });
    });
  }

  /** End what is going on; the next question starts anew. */
  cancel(): void {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new Error("cancelled"));
    this.waiting.clear();
  }

  private started(): Worker {
    const url = URL.createObjectURL(new Blob([this.text], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.addEventListener("message", ({ data }: MessageEvent<Told>) => {
      const waiting = this.waiting.get(data.id);
      if (!waiting) return;
      if ("progress" in data) return waiting.progress(data.progress);
      this.waiting.delete(data.id);
      if ("error" in data) waiting.reject(new Error(data.error));
      else waiting.resolve(data.answer as never);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      for (const { reject } of this.waiting.values()) reject(new Error(`the page failed: ${event.message || "there may be too little memory"}`));
      this.waiting.clear();
    });
    return worker;
  }
}
