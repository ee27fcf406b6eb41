/** What waits for the next frame: once each, in order, and no longer than a frame may take. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { effect } from "@preact/signals-core";

import { moving, pause, schedule, spread, markChange } from "../src/chart/scheduling";

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

test("a page is made over several frames, and what follows it has another", async () => {
  const ran: number[] = [];
  let done = false;
  const short = (i: number) => () => void ran.push(i);
  const long = (i: number) => () => (busy(20), void ran.push(i));
  void spread([short(0), long(1), long(2), short(3)]).then(() => (done = true));
  for (const expected of [[0, 1], [0, 1, 2], [0, 1, 2, 3]]) {
    assert.ok(!done);
    frame();
    await new Promise(setImmediate);
    assert.deepEqual(ran, expected);
  }
  assert.ok(!done);
  frame();
  await new Promise(setImmediate);
  assert.ok(done);
});

test("a pause is one, however many steps come before it, and none comes between steps", async () => {
  let pauses = -1;
  const forget = effect(() => {
    void pause.value;
    pauses++;
  });
  for (let step = 0; step < 8; step++) {
    markChange();
    await new Promise((done) => setTimeout(done, 60));
  }
  assert.deepEqual([pauses, moving()], [0, true]);
  await new Promise((done) => setTimeout(done, 600));
  assert.deepEqual([pauses, moving()], [1, false]);
  forget();
});
