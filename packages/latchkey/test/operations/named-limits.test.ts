import { expect, test } from "vitest";
import {
  DAY_MS,
  describeOnMemory,
  HOUR_MS,
  issue,
  NOON,
  rejectionOf,
  type TestContext,
} from "../test-context.js";

const MINUTE_MS = 60_000;

/** The names of the limits in a verdict, with the units left. */
async function left(
  { latchkey }: TestContext,
  key: string,
  ratelimits?: { name: string; cost?: number }[],
) {
  const verdict = await latchkey.verifyKey({ key, ...(ratelimits && { ratelimits }) });
  const readings = "ratelimits" in verdict ? (verdict.ratelimits ?? []) : [];
  return [
    verdict.code,
    Object.fromEntries(readings.map(({ name, remaining }) => [name, remaining])),
  ];
}

describeOnMemory("several limits of one key", (open) => {
  test("ratelimit is the one named default, and ratelimits lists all of them", async () => {
    const context = open();
    const { keyId } = await issue(context, {
      ratelimit: { limit: 9, duration: HOUR_MS },
      ratelimits: [
        { name: "tiles", limit: 5, duration: MINUTE_MS },
        { name: "writes", type: "fast", limit: 2, duration: DAY_MS, autoApply: true },
      ],
    });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({
      ratelimit: { async: false, limit: 9, duration: HOUR_MS },
      ratelimits: [
        { name: "default", limit: 9, duration: HOUR_MS, autoApply: true, async: false },
        { name: "tiles", limit: 5, duration: MINUTE_MS, autoApply: false, async: false },
        { name: "writes", type: "fast", limit: 2, duration: DAY_MS, autoApply: true, async: true },
      ],
    });
  });

  test("a key without limits lists none", async () => {
    const context = open();
    const { keyId } = await issue(context);
    const listed = await context.latchkey.getKey({ keyId });
    expect("ratelimit" in listed || "ratelimits" in listed).toBe(false);
  });

  test("the limit named default may be given among the others, and is still ratelimit", async () => {
    const context = open();
    const { keyId, key } = await issue(context, {
      ratelimits: [{ name: "default", limit: 2, duration: HOUR_MS }],
    });
    expect((await context.latchkey.getKey({ keyId })).ratelimit).toMatchObject({ limit: 2 });
    expect(await left(context, key)).toEqual(["VALID", { default: 1 }]);
  });

  test("limits with autoApply are charged by every verification, others only if they are named", async () => {
    const context = open();
    const { key } = await issue(context, {
      ratelimit: { limit: 9, duration: HOUR_MS },
      ratelimits: [
        { name: "tiles", limit: 5, duration: MINUTE_MS },
        { name: "writes", limit: 7, duration: DAY_MS, autoApply: true },
      ],
    });
    expect(await left(context, key)).toEqual(["VALID", { default: 8, writes: 6 }]);
    expect(await left(context, key, [{ name: "tiles", cost: 2 }])).toEqual([
      "VALID",
      { default: 7, writes: 5, tiles: 3 },
    ]);
  });

  test("a limit with autoApply that is named as well is charged once, at the given cost", async () => {
    const context = open();
    const { key } = await issue(context, {
      ratelimits: [{ name: "writes", limit: 7, duration: DAY_MS, autoApply: true }],
    });
    expect(await left(context, key, [{ name: "writes", cost: 3 }])).toEqual([
      "VALID",
      { writes: 4 },
    ]);
    expect(await left(context, key, [{ name: "writes", cost: 0 }])).toEqual([
      "VALID",
      { writes: 4 },
    ]);
    expect(await left(context, key, [{ name: "writes" }])).toEqual(["VALID", { writes: 3 }]);
  });

  test("a limit that refuses comes first in the verdict, and no limit is charged", async () => {
    const context = open();
    const { latchkey } = context;
    const { key } = await issue(context, {
      remaining: 10,
      ratelimit: { limit: 9, duration: HOUR_MS },
      ratelimits: [{ name: "writes", limit: 1, duration: DAY_MS, autoApply: true }],
    });
    await latchkey.verifyKey({ key });
    expect(await latchkey.verifyKey({ key })).toMatchObject({
      code: "RATE_LIMITED",
      remaining: 9,
      ratelimit: { limit: 1, remaining: 0, reset: NOON + 12 * HOUR_MS },
      ratelimits: [
        { name: "default", remaining: 8, exceeded: false },
        { name: "writes", remaining: 0, exceeded: true },
      ],
    });
  });

  test("N concurrent verifications admit exactly as many as the tightest limit allows", async () => {
    const context = open();
    const { key } = await issue(context, {
      ratelimit: { limit: 40, duration: DAY_MS },
      ratelimits: [{ name: "writes", limit: 13, duration: DAY_MS, autoApply: true }],
    });
    const other = context.another();
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? context.latchkey : other).verifyKey({ key })),
    );
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(13);
    expect(await left(context, key)).toEqual(["RATE_LIMITED", { default: 27, writes: 0 }]);
  });
});

describeOnMemory("changing the limits of a key", (open) => {
  const three = {
    ratelimit: { limit: 9, duration: HOUR_MS },
    ratelimits: [
      { name: "tiles", limit: 5, duration: MINUTE_MS },
      { name: "writes", limit: 2, duration: DAY_MS },
    ],
  };
  const names = async ({ latchkey }: TestContext, keyId: string) =>
    ((await latchkey.getKey({ keyId })).ratelimits ?? []).map(
      ({ name, limit }) => `${name} ${limit}`,
    );

  test("ratelimit sets or clears the one named default, and keeps the others", async () => {
    const context = open();
    const { keyId } = await issue(context, three);
    await context.latchkey.updateKey({ keyId, ratelimit: null });
    expect(await names(context, keyId)).toEqual(["tiles 5", "writes 2"]);
    await context.latchkey.updateKey({ keyId, ratelimit: { limit: 4, duration: HOUR_MS } });
    expect(await names(context, keyId)).toEqual(["default 4", "tiles 5", "writes 2"]);
  });

  test("ratelimits replaces all of them, and null or an empty list clears all", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await issue(context, three);
    await latchkey.updateKey({ keyId, ratelimits: [{ name: "tiles", limit: 6, duration: 1_000 }] });
    expect(await names(context, keyId)).toEqual(["tiles 6"]);
    await latchkey.updateKey({ keyId, ratelimits: [] });
    expect(await names(context, keyId)).toEqual([]);
    await latchkey.updateKey({ keyId, ...three });
    expect(await names(context, keyId)).toEqual(["default 9", "tiles 5", "writes 2"]);
    await latchkey.updateKey({ keyId, ratelimits: null });
    expect(await names(context, keyId)).toEqual([]);
  });

  test("a counter continues if its limit keeps name and duration, and otherwise restarts", async () => {
    const context = open();
    const { latchkey } = context;
    const writes = { name: "writes", limit: 9, duration: DAY_MS, autoApply: true };
    const { keyId, key } = await issue(context, { ratelimits: [writes] });
    await latchkey.verifyKey({ key });
    await latchkey.updateKey({ keyId, ratelimits: [{ ...writes, limit: 4 }] });
    expect(await left(context, key)).toEqual(["VALID", { writes: 2 }]);
    await latchkey.updateKey({ keyId, ratelimits: [{ ...writes, duration: HOUR_MS }] });
    expect(await left(context, key)).toEqual(["VALID", { writes: 8 }]);
    await latchkey.updateKey({ keyId, ratelimits: [] });
    await latchkey.updateKey({ keyId, ratelimits: [{ ...writes, duration: HOUR_MS }] });
    expect(await left(context, key)).toEqual(["VALID", { writes: 8 }]);
  });

  test("two limits with one name are refused by place, and two default limits unless they are equal", async () => {
    const context = open();
    const { keyId, apiId } = await issue(context, three);
    const twice = [
      { name: "a", limit: 1, duration: 1 },
      { name: "a", limit: 2, duration: 2 },
    ];
    for (const call of [
      context.latchkey.updateKey({ keyId, ratelimits: twice }),
      context.latchkey.createKey({ apiId, ratelimits: twice }),
    ])
      expect((await rejectionOf(call)).issues).toEqual([
        { path: "ratelimits.1.name", message: "must not be given twice" },
      ]);
    const ratelimits = [{ name: "default", limit: 1, duration: 1 }];
    for (const call of [
      context.latchkey.updateKey({ keyId, ratelimits, ratelimit: { limit: 2, duration: 1 } }),
      context.latchkey.updateKey({ keyId, ratelimits, ratelimit: null }),
      context.latchkey.createKey({ apiId, ratelimits, ratelimit: { limit: 1, duration: 2 } }),
    ])
      expect((await rejectionOf(call)).issues).toEqual([
        {
          path: "ratelimits",
          message: "must not contain a limit named default other than ratelimit",
        },
      ]);
    expect(await names(context, keyId)).toEqual(["default 9", "tiles 5", "writes 2"]);
  });

  test("default may be given as reads show it, together with ratelimit as it was set", async () => {
    const context = open();
    const ratelimit = { limit: 4, duration: 1_000, type: "fast" } as const;
    const { keyId, apiId } = await issue(context, { ratelimit });
    const { ratelimits = [] } = await context.latchkey.getKey({ keyId });
    expect(ratelimits).toMatchObject([{ name: "default", type: "fast", async: true }]);
    await context.latchkey.updateKey({ keyId, ratelimit, ratelimits });
    const other = [{ ...ratelimit, name: "default", async: false }];
    const call = context.latchkey.createKey({ apiId, ratelimit, ratelimits: other });
    expect((await rejectionOf(call)).issues).toMatchObject([{ path: "ratelimits" }]);
  });

  test("50 limits are accepted, and one more is refused", async () => {
    const context = open();
    const many = Array.from({ length: 51 }, (_, at) => ({
      name: `l${at}`,
      limit: 1,
      duration: 1_000,
    }));
    const { keyId, apiId } = await issue(context, { ratelimits: many.slice(1) });
    expect(await names(context, keyId)).toHaveLength(50);
    const error = await rejectionOf(context.latchkey.createKey({ apiId, ratelimits: many }));
    expect(error.issues).toEqual([
      { path: "ratelimits", message: "must be a list of at most 50 limits" },
    ]);
  });
});

describeOnMemory("limits of an identity with autoApply", (open) => {
  const reads = { name: "reads", limit: 5, duration: HOUR_MS, autoApply: true };

  async function withTwoKeys(context: TestContext, fields: object = {}) {
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createIdentity({
      externalId: "team",
      ratelimits: [reads, { name: "writes", limit: 2, duration: DAY_MS }],
    });
    const one = await latchkey.createKey({ apiId, externalId: "team", ...fields });
    const two = await latchkey.createKey({ apiId, externalId: "team" });
    return { one, two };
  }

  test("are charged by every verification of every key, and others only if they are named", async () => {
    const context = open();
    const { one, two } = await withTwoKeys(context);
    expect(await left(context, one.key)).toEqual(["VALID", { reads: 4 }]);
    expect(await left(context, two.key, [{ name: "writes" }])).toEqual([
      "VALID",
      { reads: 3, writes: 1 },
    ]);
    expect(await left(context, one.key, [{ name: "reads", cost: 3 }])).toEqual([
      "VALID",
      { reads: 0 },
    ]);
    expect(await left(context, two.key)).toEqual(["RATE_LIMITED", { reads: 0 }]);
  });

  test("are shown with autoApply", async () => {
    const context = open();
    await withTwoKeys(context);
    const shown = [reads, { name: "writes", limit: 2, duration: DAY_MS }];
    expect((await context.latchkey.getIdentity({ externalId: "team" })).ratelimits).toEqual(shown);
    expect((await context.latchkey.listIdentities()).identities[0]?.ratelimits).toEqual(shown);
  });

  test("are hidden by a limit of a key with the same name and any duration, which counts only for that key", async () => {
    const context = open();
    const own = { ratelimits: [{ ...reads, limit: 2, duration: DAY_MS }] };
    const { one, two } = await withTwoKeys(context, own);
    expect(await left(context, one.key)).toEqual(["VALID", { reads: 1 }]);
    expect(await left(context, one.key, [{ name: "reads" }])).toEqual(["VALID", { reads: 0 }]);
    expect(await left(context, one.key)).toEqual(["RATE_LIMITED", { reads: 0 }]);
    expect(await left(context, two.key)).toEqual(["VALID", { reads: 4 }]);
  });

  test("are hidden by a limit of a key without autoApply, too", async () => {
    const context = open();
    const own = { ratelimits: [{ ...reads, limit: 2, autoApply: false }] };
    const { one } = await withTwoKeys(context, own);
    expect(await left(context, one.key)).toEqual(["VALID", {}]);
    expect(await left(context, one.key, [{ name: "reads" }])).toEqual(["VALID", { reads: 1 }]);
  });

  test("are not charged by a verification with an ad-hoc limit of the same name", async () => {
    const context = open();
    const { latchkey } = context;
    const { one, two } = await withTwoKeys(context);
    const verdict = await latchkey.verifyKey({
      key: one.key,
      ratelimits: [{ name: "reads", limit: 1, duration: HOUR_MS }],
    });
    expect(verdict).toMatchObject({ ratelimits: [{ name: "reads", limit: 1, remaining: 0 }] });
    expect(await left(context, two.key)).toEqual(["VALID", { reads: 4 }]);
  });

  test("start and stop to apply with the next verification after the change", async () => {
    const context = open();
    const { latchkey } = context;
    const { one } = await withTwoKeys(context);
    const other = context.another();
    expect(await other.verifyKey({ key: one.key })).toMatchObject({ ratelimit: { remaining: 4 } });
    await latchkey.updateIdentity({
      externalId: "team",
      ratelimits: [{ ...reads, autoApply: false }],
    });
    expect("ratelimits" in (await other.verifyKey({ key: one.key }))).toBe(false);
    await latchkey.updateIdentity({ externalId: "team", ratelimits: [reads] });
    expect(await other.verifyKey({ key: one.key })).toMatchObject({ ratelimit: { remaining: 3 } });
  });

  test("N concurrent verifications over both keys admit exactly the limit", async () => {
    const context = open();
    const { one, two } = await withTwoKeys(context);
    const verdicts = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        context.latchkey.verifyKey({ key: at % 2 ? one.key : two.key }),
      ),
    );
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(5);
  });
});
