import { aChange, aLimit, aPlan, aRecord, aRequest, at, NOW, usesOf } from "@latchkey/conformance";
import type { ChargePlan, KeyStore } from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { openOwnStore } from "./testing/own-store.js";
import { PATIENT, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const MOMENT = { now: NOW, refill: null };
const FEW = aLimit({ owner: null, window: "few", limit: 1_000 });

describeWithServers("charges that begin in one turn of the event loop", () => {
  let server: TestServer;
  let control: Redis;
  let store: KeyStore;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ server, control, store } = own);
    return own.close;
  });
  beforeEach(async () => {
    await control.flushall();
    for (const workspaceId of ["ws_a", "ws_b"])
      await store.commit(
        workspaceId,
        aChange({
          puts: [1, 2].map((number) => ({
            record: aRecord("key", number),
            counters: { usage: usesOf(35) },
          })),
        }),
      );
    await store.charge(planOf("ws_a", { mode: "peek" }), MOMENT);
  });

  const planOf = (workspaceId: string, fields: Partial<ChargePlan> = {}, number = 1) =>
    aPlan({ workspaceId, confirms: [{ ...at("key", number), version: 1 }], ...fields });

  /** Scripts that the server ran during the work. */
  async function scriptsOf(work: () => Promise<unknown>): Promise<number> {
    await control.config("RESETSTAT");
    await work();
    const calls = /cmdstat_evalsha:calls=(\d+)/.exec(await control.info("commandstats"))?.[1];
    return Number(calls ?? 0);
  }

  test("take one script for each 16 of a workspace, and are decided one after the other", async () => {
    const plan = planOf("ws_a");
    let results: unknown[] = [];
    const scripts = await scriptsOf(async () => {
      results = await Promise.all(Array.from({ length: 40 }, () => store.charge(plan, MOMENT)));
    });
    expect(scripts).toBe(3);
    expect(results).toEqual(
      Array.from({ length: 40 }, (_, before) =>
        before < 35
          ? { kind: "charged", remaining: 34 - before, limits: [] }
          : { kind: "usage-exceeded", remaining: 0, limits: [] },
      ),
    );
  });

  test("of two workspaces take two scripts, and a charge that follows an answer takes another", async () => {
    const both = () =>
      Promise.all(["ws_a", "ws_b", "ws_a"].map((id) => store.charge(planOf(id), MOMENT)));
    expect(await scriptsOf(both)).toBe(2);
    expect(await scriptsOf(() => both().then(both))).toBe(4);
  });

  test("harm no neighbour: one is stale, one finds a value of another type, one damaged counters", async () => {
    const home = (await control.keys("lk:{ws_a}:r:key:*")).toSorted();
    await control.lpush("lk:{ws_a}:p:few", "planted");
    for (const name of home)
      if ((await control.hexists(name, at("key", 2).id)) === 1)
        await control.hset(name, at("key", 2).id, "1  garbage");
    const plans = [
      planOf("ws_a"),
      planOf("ws_a", { limits: [FEW] }),
      planOf("ws_a", { revision: 7 }),
      planOf("ws_a", {}, 2),
      planOf("ws_a", { cost: -1 }),
      planOf("ws_a"),
    ];
    const charges = plans.map(async (plan) => store.charge(plan, MOMENT));
    const results = await Promise.allSettled(charges);
    expect(results).toMatchObject([
      { value: { kind: "charged", remaining: 34 } },
      { reason: { code: "STORE_CORRUPT" } },
      { value: { kind: "stale", moved: "revision" } },
      { reason: { code: "STORE_CORRUPT" } },
      { reason: expect.any(TypeError) },
      { value: { kind: "charged", remaining: 33 } },
    ]);
  });

  test("with one request id are charged once, and answered alike", async () => {
    const moment = { ...MOMENT, request: aRequest({ rememberUntil: NOW + 60_000 }) };
    const other = { ...moment, request: { ...moment.request, fingerprint: "other" } };
    const [first, again, conflict, next] = await Promise.all(
      [moment, moment, other, MOMENT].map((each) => store.charge(planOf("ws_a"), each)),
    );
    expect(first).toMatchObject({ kind: "charged", remaining: 34 });
    expect(again).toEqual({ ...first, isRepeat: true });
    expect(conflict).toEqual({ kind: "conflict" });
    expect(next).toMatchObject({ kind: "charged", remaining: 33 });
  });

  test("run when the store is closed in the same turn, and those of the next turn are refused", async () => {
    const closing = redisStore(server.url, PATIENT);
    await closing.read("ws_a", []);
    const charges = [1, 2].map(async () => closing.charge(planOf("ws_a"), MOMENT));
    await closing.close();
    expect(await Promise.all(charges)).toMatchObject([{ remaining: 34 }, { remaining: 33 }]);
    const error = await errorOf(closing.charge(planOf("ws_a"), MOMENT) as Promise<unknown>);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  });
});
