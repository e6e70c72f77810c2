import type { KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { copy } from "../copy.js";
import { latchkeyOn } from "../testing/fixture.js";
import { takeBack } from "./take-back.js";

const REFUSED = {
  code: "PRECONDITION_FAILED",
  message: expect.stringContaining("unless forced"),
};

/** A source with a key that has two uses, and a target. */
async function aPair() {
  const [from, to] = [memoryStore(), memoryStore()];
  const latchkey = latchkeyOn(from);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const { key } = await latchkey.createKey({ apiId, remaining: 2 });
  const target = latchkeyOn(to);
  const ask = (each: typeof latchkey) =>
    each.verifyKey({ key }).then(
      ({ code }) => code,
      (error) => error.reason,
    );
  return { from, to, onSource: () => ask(latchkey), onTarget: () => ask(target) };
}

test("a source whose target is lost after the fence can be taken back only by force", async () => {
  const { from, to, onSource } = await aPair();
  let isFenced = false;
  const dying: KeyStore = {
    ...from,
    commit: async (id, change) => {
      const isFence = JSON.stringify(change.puts).includes('"moved"');
      const result = await from.commit(id, change);
      isFenced ||= isFence;
      return result;
    },
    page: async (...given) =>
      isFenced ? Promise.reject(new Error("killed")) : from.page(...given),
  };
  await expect(copy(dying, to, { live: true })).rejects.toThrow("killed");
  expect(await onSource()).toBe("moved");
  await expect(takeBack(from, null)).rejects.toMatchObject(REFUSED);
  await expect(takeBack(from, memoryStore())).rejects.toMatchObject(REFUSED);
  expect(await onSource()).toBe("moved");
  await takeBack(from, null, { force: true });
  expect(await onSource()).toBe("VALID");
});

test("a serving target is closed before the source is taken back by force, and can be copied to again", async () => {
  const { from, to, onSource, onTarget } = await aPair();
  await copy(from, to, { live: true });
  expect([await onSource(), await onTarget()]).toEqual(["moved", "VALID"]);
  await expect(takeBack(from, to)).rejects.toMatchObject(REFUSED);
  const states: unknown[] = [];
  const watched: KeyStore = {
    ...from,
    commit: async (...given) => {
      states.push(await onTarget());
      return from.commit(...given);
    },
  };
  await takeBack(watched, to, { force: true });
  expect(states).toEqual(["incomplete"]);
  expect([await onSource(), await onTarget()]).toEqual(["VALID", "incomplete"]);
  await copy(from, to, { live: true });
  expect([await onSource(), await onTarget(), await onTarget()]).toEqual([
    "moved",
    "VALID",
    "USAGE_EXCEEDED",
  ]);
});

test("force closes no target of another copy", async () => {
  const { from, to, onTarget } = await aPair();
  await copy(from, to, { live: true });
  const other = await aPair();
  await takeBack(other.from, to, { force: true });
  expect(await onTarget()).toBe("VALID");
});
