import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { OwnedSubjects } from "./owned-subjects.js";

const keys = (prefix: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => {
    return { kind: "key", id: `${prefix}_11pAHqBdA111aK2cng74j${from + at}` } as const;
  });

/** Bytes in use, after a garbage collection. */
function bytesInUse(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe("the subjects that have a record", () => {
  test("are those that were added, by kind and id", () => {
    const owned = new OwnedSubjects();
    const there = keys("key", 0, 5_000);
    owned.add(there);
    owned.add(there.slice(0, 100));
    expect(there.filter((key) => !owned.has(key))).toEqual([]);
    expect(keys("gone", 0, 5_000).filter((key) => owned.has(key))).toEqual([]);
    expect(owned.has({ kind: "identity", id: there[0]?.id ?? "" })).toBe(false);
  });

  test("do not include records without statistics", () => {
    const owned = new OwnedSubjects();
    owned.add([{ kind: "auditEntry", id: "evt_1" }]);
    expect(owned.has({ kind: "auditEntry", id: "evt_1" } as never)).toBe(false);
  });

  test("take less than 30 bytes each", async () => {
    const owned = new OwnedSubjects();
    const count = 100_000;
    const before = bytesInUse();
    for (let from = 0; from < count; from += 500) owned.add(keys("key", from, from + 500));
    // The buffers that the tables grew out of are freed by another thread, a moment after the collection.
    await expect.poll(() => (bytesInUse() - before) / count, { timeout: 10_000 }).toBeLessThan(30);
    expect(owned.has({ kind: "key", id: keys("key", 7, 8)[0]?.id ?? "" })).toBe(true);
  });
});
