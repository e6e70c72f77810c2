import { LatchkeyError, type LatchkeyOptions } from "@latchkey/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeOnMemory, HOUR_MS, issue, NOON } from "../test-context.js";
import { unclosed, wrapped } from "../wrapped-store.js";

describeOnMemory("onError", (open) => {
  const away = (outcome: "not-applied" | "unknown") =>
    new LatchkeyError("STORE_UNAVAILABLE", "gone for a moment", { outcome });

  /** A latchkey whose first flush of statistics fails, and the reported errors. */
  async function failing(error: Error, options: Partial<LatchkeyOptions> = {}) {
    const context = open();
    const ids = await issue(context);
    const errors: unknown[] = [];
    let failures = 1;
    const store = wrapped(unclosed(context.store), {
      addStatistics: (workspaceId, batch) => {
        failures -= 1;
        if (failures >= 0) return Promise.reject(error);
        return context.store.addStatistics(workspaceId, batch);
      },
    });
    const onError = (reported: unknown) => errors.push(reported);
    const latchkey = context.another({ store, onError, ...options });
    const counted = async () => {
      const range = { start: NOON, end: NOON + HOUR_MS, granularity: "hour" } as const;
      const { verifications } = await latchkey.getVerifications({ keyId: ids.keyId, ...range });
      return verifications.map(({ success }) => success);
    };
    return { ...context, ...ids, latchkey, errors, counted };
  }

  test("is called if a flush of statistics fails, and the counts are written with the next flush", async () => {
    const error = away("not-applied");
    const { latchkey, key, errors, counted } = await failing(error);
    await latchkey.verifyKey({ key });
    expect(await counted()).toEqual([0]);
    expect(errors).toEqual([error]);
    await latchkey.verifyKey({ key });
    expect(await counted()).toEqual([2]);
    expect(errors).toEqual([error]);
  });

  test("is called for a flush with an unknown outcome, and the counts are not written twice", async () => {
    const error = away("unknown");
    const { latchkey, key, errors, counted } = await failing(error);
    await latchkey.verifyKey({ key });
    expect([await counted(), await counted()]).toEqual([[0], [0]]);
    expect(errors).toEqual([error]);
  });

  test("is called if the last flush fails, and closing continues", async () => {
    const error = away("unknown");
    const { latchkey, key, errors } = await failing(error);
    await latchkey.verifyKey({ key });
    await latchkey.close();
    expect(errors).toEqual([error]);
  });

  test("is called once with the error of a listener, and the operation has succeeded", async () => {
    const context = open();
    const { key, keyId } = await issue(context);
    const errors: unknown[] = [];
    const broken = new Error("the listener is broken");
    const onError = (error: unknown) => errors.push(error);
    const throwing = context.another({
      onError,
      onEvent: () => {
        throw broken;
      },
    });
    expect(await throwing.verifyKey({ key })).toMatchObject({ valid: true });
    await throwing.updateKey({ keyId, name: "north" });
    expect(errors).toEqual([broken]);
    const rejecting = context.another({ onError, onEvent: () => Promise.reject(broken) });
    await rejecting.updateKey({ keyId, name: "south" });
    await Promise.resolve();
    expect(errors).toEqual([broken, broken]);
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ name: "south" });
  });

  test("is replaced by a warning if it is missing and a listener throws, which is never silent", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const context = open();
    const { key } = await issue(context);
    const broken = new Error("the listener is broken");
    const latchkey = context.another({
      onEvent: () => {
        throw broken;
      },
    });
    await latchkey.verifyKey({ key });
    await latchkey.verifyKey({ key });
    expect(warn.mock.calls).toEqual([[expect.stringContaining("onEvent"), broken]]);
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("onError is broken, too");
      },
    ],
    ["rejects", () => Promise.reject(new Error("onError is broken, too"))],
  ])("that %s itself changes nothing", async (_, onError) => {
    const { latchkey, key, counted } = await failing(away("not-applied"), { onError });
    await latchkey.verifyKey({ key });
    await counted();
    expect(await counted()).toEqual([1]);
  });

  test("must be a function", () => {
    const context = open();
    expect(() => context.another({ onError: "log" as never })).toThrow(
      new TypeError('"onError" must be a function'),
    );
  });
});
