import { setImmediate } from "node:timers/promises";
import type { Latchkey, ListKeysInput } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, NOON } from "./test-context.js";

describeOnEveryStore("finding keys beside writers", (open) => {
  test("F1: pages read while keys are created, deleted, changed and rotated contain every lasting key once", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const chance = chanceOf(31);
    const apiIds: string[] = [];
    for (const name of ["tides", "winds", "waves"])
      apiIds.push((await latchkey.createApi({ name })).apiId);
    const settings = (apiId: string, at: number) => ({
      apiId,
      name: "lasting gate",
      externalId: `pier-${at % 2}`,
      expires: NOON + DAY_MS + at,
      tags: ["eu"],
    });
    const lasting: string[] = [];
    const passing: string[] = [];
    for (let at = 0; at < 45; at += 1) {
      const apiId = chance.pick(apiIds);
      lasting.push((await latchkey.createKey(settings(apiId, at))).keyId);
      passing.push((await other.createKey(settings(apiId, at))).keyId);
    }
    let isOver = false;
    const write = async (by: Latchkey) => {
      for (let at = 0; !isOver && at < 60; at += 1) {
        const keyId = passing.shift();
        if (keyId === undefined) break;
        const { apiId } = await by.getKey({ keyId });
        await by.updateKey({ keyId, name: "gate", enabled: at % 2 === 0, externalId: "pier-9" });
        if (at % 3 === 0) await by.rotateKey({ keyId });
        else await by.deleteKey({ keyId });
        passing.push((await by.createKey(settings(apiId, at))).keyId);
        // A store without I/O never yields by itself.
        await setImmediate();
      }
    };
    const read = async (by: Latchkey, question: ListKeysInput) => {
      for (const limit of [3, 15]) {
        const seen: string[] = [];
        for await (const { id } of by.keysOf({ ...question, limit })) seen.push(id);
        const met = lasting.filter((id) => seen.includes(id));
        expect([question, met]).toEqual([question, lasting]);
        expect(new Set(seen).size).toBe(seen.length);
      }
    };
    const reading = Promise.all([
      read(latchkey, { nameContains: "LASTING" }),
      read(other, { enabled: true, tags: ["eu"], order: "desc" }),
      read(other, {}),
    ]).finally(() => {
      isOver = true;
    });
    await Promise.all([reading, write(latchkey), write(other)]);
  });
});
