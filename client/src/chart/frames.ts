/** Work that waits for the next frame; what would keep a frame waiting goes on in the one after it. */

/** Milliseconds of a frame. A step of a drag takes a few, the first drawing of all charts many. */
const LONGEST = 12;

const jobs = new Set<() => void>();

/** Run once before the next frame is shown, however often it is asked for. */
export function schedule(job: () => void): void {
  if (jobs.size === 0) requestAnimationFrame(run);
  jobs.add(job);
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
