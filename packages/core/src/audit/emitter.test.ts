import { describe, expect, test } from "vitest";
import { report } from "../lib/error-listener.js";
import { emit, type LatchkeyEvent } from "./emitter.js";

const event: LatchkeyEvent = {
  type: "key.verified",
  workspaceId: "ws_default",
  at: 1,
  code: "NOT_FOUND",
};
const failure = new Error("listener");

/** Waits until promises that nobody waits for have settled. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a listener", () => {
  test("is called with the event, before the call returns", () => {
    const events: LatchkeyEvent[] = [];
    emit((one) => events.push(one), event, null);
    expect(events).toEqual([event]);
  });

  test("that throws does not reach the caller: the error is reported", () => {
    const reported: unknown[] = [];
    emit(
      () => {
        throw failure;
      },
      event,
      (error) => reported.push(error),
    );
    expect(reported).toEqual([failure]);
  });

  test("that rejects does not reach the caller either", async () => {
    const reported: unknown[] = [];
    emit(
      () => Promise.reject(failure),
      event,
      (error) => reported.push(error),
    );
    expect(reported).toEqual([]);
    await settled();
    expect(reported).toEqual([failure]);
  });

  test("may answer a promise of any kind: what it rejects with is reported", async () => {
    const reported: unknown[] = [];
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
      then: (_resolve: unknown, reject: (error: unknown) => void) => reject(failure),
    };
    emit(
      () => thenable,
      event,
      (error) => reported.push(error),
    );
    await settled();
    expect(reported).toEqual([failure]);
  });

  test.each([undefined, null, 0, "text", {}, Promise.resolve(7)])(
    "may answer anything else: %s",
    async (answer) => {
      const reported: unknown[] = [];
      emit(
        () => answer,
        event,
        (error) => reported.push(error),
      );
      await settled();
      expect(reported).toEqual([]);
    },
  );

  test("that fails where nobody listens for errors is forgotten", async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    emit(() => Promise.reject(failure), event, null);
    emit(
      () => {
        throw failure;
      },
      event,
      null,
    );
    await settled();
    process.off("unhandledRejection", onRejection);
    expect(rejections).toEqual([]);
  });
});

describe("a listener for errors", () => {
  test("is called with the error itself", () => {
    const reported: unknown[] = [];
    report((error) => reported.push(error), failure);
    expect(reported).toEqual([failure]);
  });

  test("need not be there", () => {
    expect(() => report(null, failure)).not.toThrow();
  });

  test("that throws or rejects has nobody to tell", async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    report(() => {
      throw failure;
    }, failure);
    report(() => Promise.reject(failure), failure);
    await settled();
    process.off("unhandledRejection", onRejection);
    expect(rejections).toEqual([]);
  });
});
