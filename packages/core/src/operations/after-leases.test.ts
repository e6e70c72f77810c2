import { describe, expect, test } from "vitest";
import type { LeaseTimes } from "../store/workspace-state.js";
import { endLeases, isRelative } from "./after-leases.js";

test.each([
  [{ op: "increment", value: 1 }, true],
  [{ op: "decrement", value: 1 }, true],
  [{ op: "set", value: 1 }, false],
  [{}, false],
  [undefined, false],
  [null, false],
  [Object.create({ op: "increment" }), false],
])("a call with %o is relative to the uses left: %s", (input, isSo) => {
  expect(isRelative(input)).toBe(isSo);
});

test("a call with an input that cannot be read is not relative", () => {
  const refuse = () => {
    throw new TypeError("not for you");
  };
  expect(isRelative(new Proxy({}, { get: refuse }))).toBe(false);
});

test("a call with an input that may change on the next read, or with unreadable fields, is not relative", () => {
  const answering = {
    get op() {
      return "increment";
    },
  };
  const getOwnPropertyDescriptor = () => {
    throw new TypeError("not for you");
  };
  for (const input of [answering, new Proxy({}, { getOwnPropertyDescriptor })])
    expect(isRelative(input)).toBe(false);
});

describe("E6: leases are ended", () => {
  /** The record of lease times. Its version changes with every write. */
  function aRecord(first: LeaseTimes) {
    const record = { times: first as LeaseTimes | null, version: 1 };
    const changeLeases = async (
      _: string,
      change: (before: LeaseTimes | null, version: number) => LeaseTimes | null,
    ) => {
      const after = change(record.times, record.version);
      if (JSON.stringify(after) !== JSON.stringify(record.times)) record.version += 1;
      record.times = after;
      return { times: after, version: record.version };
    };
    return { record, store: { changeLeases } };
  }

  const announce = () => ({ grant: 200, wait: 200 });
  const stop = () => ({ grant: 0, wait: 200 });

  test("nothing waits any more once the granted leases have ended", async () => {
    const { record, store } = aRecord({ grant: 200, wait: 200 });
    const waits: (LeaseTimes | null)[] = [];
    await endLeases(store, "ws", async () => {
      waits.push(record.times);
    });
    expect(waits).toEqual([{ grant: 0, wait: 200 }]);
    expect(record.times).toEqual({ grant: 0, wait: 0 });
  });

  test("leases that were granted meanwhile, and that another call is ending, are awaited too", async () => {
    const { record, store } = aRecord({ grant: 200, wait: 200 });
    let waits = 0;
    await endLeases(store, "ws", async () => {
      waits += 1;
      if (waits > 1) return;
      await store.changeLeases("ws", announce);
      await store.changeLeases("ws", stop);
    });
    expect(waits).toBe(2);
    expect(record.times).toEqual({ grant: 0, wait: 0 });
  });

  test("a process that starts leases meanwhile keeps them", async () => {
    const { record, store } = aRecord({ grant: 200, wait: 200 });
    await endLeases(store, "ws", async () => {
      await store.changeLeases("ws", announce);
    });
    expect(record.times).toEqual({ grant: 200, wait: 200 });
  });
});
