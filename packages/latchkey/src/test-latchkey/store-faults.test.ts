import { mock } from "node:test";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createTestLatchkey } from "./create.js";

/** A test latchkey with a key of three uses that was verified once. */
async function opened() {
  const context = createTestLatchkey();
  const { keys } = await context.seed({
    apis: { tiles: {} },
    keys: { reader: { api: "tiles", remaining: 3 } },
  });
  const { key, keyId } = keys.reader;
  const verify = () => context.latchkey.verifyKey({ key });
  await verify();
  const usesLeft = async () => (await context.latchkey.getKey({ keyId })).remaining;
  return { ...context, verify, usesLeft };
}

/** Whether a promise settles without any timer. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  return settled;
}

describe("a store that fails", () => {
  test("fails the given number of times, without doing anything", async () => {
    const { verify, failStore, usesLeft } = await opened();
    failStore({ times: 2 });
    const unavailable = { code: "STORE_UNAVAILABLE", outcome: "not-applied" };
    await expect(verify()).rejects.toMatchObject(unavailable);
    await expect(verify()).rejects.toMatchObject(unavailable);
    expect(await usesLeft()).toBe(2);
    expect(await verify()).toMatchObject({ valid: true });
  });

  test("with an unknown outcome does its work, and only the answer is lost", async () => {
    const { verify, failStore, usesLeft } = await opened();
    failStore({ outcome: "unknown" });
    await expect(verify()).rejects.toMatchObject({ outcome: "unknown" });
    expect(await usesLeft()).toBe(1);
  });

  test("can fail in one method only", async () => {
    const { latchkey, verify, failStore } = await opened();
    failStore({ times: Number.POSITIVE_INFINITY, method: "commit" });
    expect(await verify()).toMatchObject({ valid: true });
    await expect(latchkey.createApi({ name: "maps" })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    await expect(latchkey.createApi({ name: "maps" })).rejects.toThrow();
    failStore({ times: 0 });
    expect(await latchkey.createApi({ name: "maps" })).toHaveProperty("apiId");
  });

  test("fails the calls that operations wait for, not those beside them, nor seeds", async () => {
    const { latchkey, seed, failStore, recorder } = await opened();
    failStore();
    expect(await seed({ apis: { maps: {} } })).toHaveProperty("apis.maps.apiId");
    // Closing writes the count of the verification.
    await latchkey.close();
    expect(recorder.errors).toEqual([]);
    await expect(latchkey.listApis()).rejects.toThrow("the test made the store fail");
  });

  test.each([
    [{ times: -1 }, '"times"'],
    [{ times: 0.5 }, '"times"'],
    [{ times: Number.NaN }, '"times"'],
    [{ outcome: "applied" }, '"outcome"'],
    [{ method: "chrage" }, '"method" must be one of read, page, commit, charge, '],
    [{ tims: 2 }, '"tims" is not a field of failStore: times, outcome, method'],
    [null, '"failure" must be an object'],
  ])("is not made of %j", async (failure, message) => {
    expect(() => createTestLatchkey().failStore(failure as never)).toThrow(message);
  });
});

describe("a slow store", () => {
  test("is slow by Vitest's fake timers", async () => {
    const { verify, slowStore } = await opened();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    slowStore({ ms: 200 });
    const pending = verify();
    await vi.advanceTimersByTimeAsync(199);
    expect(await isSettled(pending)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await pending).toMatchObject({ valid: true });
    slowStore({ ms: 0 });
    expect(await verify()).toMatchObject({ valid: true });
  });

  test("is slow by the fake timers of node:test", async () => {
    const { verify, slowStore } = await opened();
    mock.timers.enable({ apis: ["setTimeout"] });
    onTestFinished(() => mock.timers.reset());
    slowStore({ ms: 200 });
    const pending = verify();
    mock.timers.tick(199);
    expect(await isSettled(pending)).toBe(false);
    mock.timers.tick(1);
    expect(await pending).toMatchObject({ valid: true });
  });

  test("may also fail, and can be slow in one method only", async () => {
    const { latchkey, verify, slowStore, failStore } = await opened();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    slowStore({ ms: 50, method: "charge" });
    failStore({ method: "charge" });
    expect(await latchkey.listApis()).toMatchObject({ total: 1 });
    const failing = expect(verify()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await vi.advanceTimersByTimeAsync(50);
    await failing;
  });

  test.each([
    [{ ms: 5, method: "chrage" }, '"method" must be one of read, '],
    [{ mss: 5 }, '"mss" is not a field of slowStore: ms, method'],
    [undefined, '"delay" must be an object'],
  ])("is not made of %j", (delay, message) => {
    expect(() => createTestLatchkey().slowStore(delay as never)).toThrow(message);
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 31])("cannot be slowed by %d ms", (ms) => {
    expect(() => createTestLatchkey().slowStore({ ms })).toThrow('"ms" must be a whole number');
  });
});
