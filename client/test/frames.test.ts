/** What waits for the next frame: once each, in order, and no longer than a frame may take. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { schedule } from "../src/chart/frames";

let asked: FrameRequestCallback[] = [];
Object.assign(globalThis, { requestAnimationFrame: (run: FrameRequestCallback) => asked.push(run) });

function frame(): void {
  const due = asked;
  asked = [];
  due.forEach((run) => run(0));
}

function busy(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

test("a job runs once a frame, however often it is asked for", () => {
  const ran: string[] = [];
  const one = (): unknown => ran.push("one");
  schedule(one);
  schedule(() => ran.push("two"));
  schedule(one);
  frame();
  assert.deepEqual(ran, ["one", "two"]);
  frame();
  assert.deepEqual(ran, ["one", "two"]);
});

test("what takes long lets a frame be shown before the others go on", () => {
  const ran: number[] = [];
  for (const i of [0, 1, 2])
    schedule(() => {
      busy(20);
      ran.push(i);
    });
  for (const expected of [[0], [0, 1], [0, 1, 2]]) {
    frame();
    assert.deepEqual(ran, expected);
  }
  assert.equal(asked.length, 0);
});

test("a job that fails keeps none of the others", () => {
  let ran = false;
  schedule(() => {
    throw new Error("no");
  });
  schedule(() => (ran = true));
  assert.throws(frame, /no/);
  frame();
  assert.ok(ran);
});
