import { describe, expect, test } from "vitest";
import { report } from "../lib/error-listener.js";
import { createEmitter, type EventListener, type LatchkeyEvent } from "./emitter.js";

const event: LatchkeyEvent = {
  type: "key.verified",
  workspaceId: "ws_default",
  at: 1,
  durationMs: 0,
  code: "NOT_FOUND",
  cached: false,
};
const failure = new Error("listener");

/** Waits until promises that nothing awaits have settled. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Emits to a listener, and collects what is reported. */
function emitterTo(listener: EventListener) {
  const reported: unknown[] = [];
  return { reported, emit: createEmitter(listener, (error) => reported.push(error)) };
}

/** A listener that does each of these in turn. */
function inTurn(...turns: readonly (() => unknown)[]): EventListener {
  let calls = 0;
  return () => {
    const turn = turns[calls];
    calls += 1;
    return turn?.();
  };
}

const works = () => undefined;
const throws = () => {
  throw failure;
};
const rejects = () => Promise.reject(failure);

describe("a listener", () => {
  test("is called with the event, before the call returns", () => {
    const events: LatchkeyEvent[] = [];
    emitterTo((one) => events.push(one)).emit(event);
    expect(events).toEqual([event]);
  });

  test("that throws does not reach the caller: the error is reported", () => {
    const { emit, reported } = emitterTo(throws);
    emit(event);
    expect(reported).toEqual([failure]);
  });

  test("that rejects does not reach the caller either", async () => {
    const { emit, reported } = emitterTo(rejects);
    emit(event);
    expect(reported).toEqual([]);
    await settled();
    expect(reported).toEqual([failure]);
  });

  test.each([
    ["throwing", throws],
    ["rejecting", rejects],
  ])("that keeps %s is reported once", async (_, fails) => {
    const { emit, reported } = emitterTo(fails);
    for (let index = 0; index < 3; index += 1) {
      emit(event);
      await settled();
    }
    expect(reported).toEqual([failure]);
  });

  test.each([
    ["throws", throws, works],
    ["rejects", rejects, () => Promise.resolve()],
  ])("that %s again after it has worked is reported again", async (_, fails, worksAgain) => {
    const { emit, reported } = emitterTo(inTurn(fails, worksAgain, fails, fails));
    for (let index = 0; index < 4; index += 1) {
      emit(event);
      await settled();
    }
    expect(reported).toEqual([failure, failure]);
  });

  test("may return any thenable: its rejection is reported", async () => {
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
      then: (_resolve: unknown, reject: (error: unknown) => void) => reject(failure),
    };
    const { emit, reported } = emitterTo(() => thenable);
    emit(event);
    await settled();
    expect(reported).toEqual([failure]);
  });

  test.each([undefined, null, 0, "text", {}, Promise.resolve(7)])(
    "may return anything else: %s",
    async (answer) => {
      const { emit, reported } = emitterTo(() => answer);
      emit(event);
      await settled();
      expect(reported).toEqual([]);
    },
  );
});

describe("a listener for errors", () => {
  test("is called with the error itself", () => {
    const reported: unknown[] = [];
    report((error) => reported.push(error), failure);
    expect(reported).toEqual([failure]);
  });

  test("is optional", () => {
    expect(() => report(null, failure)).not.toThrow();
  });

  test("that throws or rejects is ignored", async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    report(throws, failure);
    report(rejects, failure);
    await settled();
    process.off("unhandledRejection", onRejection);
    expect(rejections).toEqual([]);
  });
});
