/** Work that waits for the next frame, or for a pause; what would keep a frame waiting goes on in the one after it. */

import { type ReadonlySignal, signal } from "@preact/signals-core";

/** Milliseconds of a frame. A step of a drag takes a few, the first drawing of all charts many. */
const LONGEST = 6;

const jobs = new Set<() => void>();

/** Run once before the next frame is shown, however often it is asked for. */
export function schedule(job: () => void): void {
  if (jobs.size === 0) requestAnimationFrame(run);
  jobs.add(job);
}

/** What a card does before its first frame: it looks where it is, and how large. */
export const beforeFirstFrame: (() => void)[] = [];

/** Draw all that is in sight at once: somebody takes a picture of the page as soon as it has loaded. */
export function drawFirstFrame(): void {
  for (const look of beforeFirstFrame.splice(0)) look();
  for (const job of jobs) {
    jobs.delete(job);
    job();
  }
}

function run(): void {
  const late = performance.now() + LONGEST;
  try {
    for (const job of jobs) {
      jobs.delete(job);
      job();
      if (performance.now() > late) break;
    }
  } finally {
    if (jobs.size > 0) requestAnimationFrame(run);
  }
}

/** Do one after the other, each frame as many as it has time for; what follows them has a frame of its own. */
export function spread(work: readonly (() => void)[]): Promise<number> {
  work.forEach(schedule);
  return new Promise((done) => schedule(() => requestAnimationFrame(done)));
}

const PAUSE = 300;

const pauses = signal(0);
let changed = 0;
let waiting = false;

/** Changes at each pause: what need not follow every step of a drag follows this. */
export const pause: ReadonlySignal<number> = pauses;

/** Say that something changed. One timer looks after all that wait, however many steps a drag has. */
export function markChange(): void {
  changed = performance.now();
  if (waiting) return;
  waiting = true;
  setTimeout(look, PAUSE);
}

/** Whether there was no pause since the last change. */
export const moving = (): boolean => waiting;

function look(): void {
  const rest = changed + PAUSE - performance.now();
  waiting = rest > 1;
  if (waiting) setTimeout(look, rest);
  else pauses.value++;
}
