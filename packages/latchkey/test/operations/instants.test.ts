import { runInNewContext } from "node:vm";
import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

const LAST_INSTANT = 8_640_000_000_000_000;

/** Every input that takes an instant: the call, the path of the field, and its bounds. */
const INPUTS: readonly {
  readonly name: string;
  readonly path: string;
  readonly bounds: readonly [number, number];
  readonly call: (latchkey: Latchkey, apiId: string, at: number) => Promise<unknown>;
}[] = [
  {
    name: "createKey",
    path: "expires",
    bounds: [1, LAST_INSTANT],
    call: (latchkey, apiId, expires) => latchkey.createKey({ apiId, expires }),
  },
  {
    name: "createKeys",
    path: "0.expires",
    bounds: [1, LAST_INSTANT],
    call: (latchkey, apiId, expires) =>
      latchkey.createKeys([{ apiId, plaintext: "sk_live_1234567890", expires }]),
  },
  {
    name: "createKeys",
    path: "0.createdAt",
    bounds: [0, LAST_INSTANT],
    call: (latchkey, apiId, createdAt) =>
      latchkey.createKeys([{ apiId, plaintext: "sk_live_1234567890", createdAt }]),
  },
  {
    name: "updateKey",
    path: "expires",
    bounds: [1, LAST_INSTANT],
    call: (latchkey, _, expires) => latchkey.updateKey({ keyId: "key_1", expires }),
  },
  {
    name: "createRootKey",
    path: "expires",
    bounds: [1, LAST_INSTANT],
    call: (latchkey, _, expires) => latchkey.createRootKey({ permissions: ["*"], expires }),
  },
  {
    name: "updateRootKey",
    path: "expires",
    bounds: [1, LAST_INSTANT],
    call: (latchkey, _, expires) => latchkey.updateRootKey({ rootKeyId: "root_1", expires }),
  },
  {
    name: "getVerifications",
    path: "start",
    bounds: [0, 253_402_300_799_999],
    call: (latchkey, apiId, start) => latchkey.getVerifications({ apiId, start }),
  },
  {
    name: "getVerifications",
    path: "end",
    bounds: [0, 253_402_300_799_999],
    call: (latchkey, apiId, end) => latchkey.getVerifications({ apiId, end }),
  },
  ...(["start", "end"] as const).map((path) => ({
    name: "exportUsage",
    path,
    bounds: [0, 253_402_300_799_999] as const,
    call: (latchkey: Latchkey, _: string, at: number | Date) =>
      latchkey.exportUsage({ start: at, end: at, granularity: "hour", by: "key" }),
  })),
  {
    name: "pruneVerifications",
    path: "before",
    bounds: [0, LAST_INSTANT],
    call: (latchkey, _, before) => latchkey.pruneVerifications({ before }),
  },
  {
    name: "pruneAuditEvents",
    path: "before",
    bounds: [0, LAST_INSTANT],
    call: (latchkey, _, before) => latchkey.pruneAuditEvents({ before }),
  },
];

const NO_INSTANTS: readonly (readonly [string, unknown])[] = [
  ["9e15", 9e15],
  ["one ms beyond the last date", LAST_INSTANT + 1],
  ["2^53", 2 ** 53],
  ["half a ms", 1.5],
  ["-1", -1],
  ["NaN", Number.NaN],
  ["an invalid date", new Date(Number.NaN)],
  ["a date before 1970", new Date(-1)],
  ["a text", "2031-05-17"],
  ["a text of digits", "1900000000000"],
  ["an object that answers a number", { getTime: () => NOON, valueOf: () => NOON }],
  ["a promise that was not awaited", Promise.resolve(NOON + DAY_MS)],
  ["a proxy of a date", new Proxy(new Date(NOON + DAY_MS), {})],
];

describeOnMemory("an instant", (open) => {
  test.each(INPUTS)("of $name, $path: what is none is refused by name and bound", async (input) => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const [first, last] = input.bounds;
    const message = `must be an instant from ${first} to ${last}: whole ms since the Unix epoch (or a JavaScript Date)`;
    for (const [name, value] of NO_INSTANTS) {
      const error = await rejectionOf(input.call(latchkey, apiId, value as number));
      expect([name, error.code], name).toEqual([name, "BAD_REQUEST"]);
      expect(error.issues, name).toContainEqual({ path: input.path, message });
    }
    expect((await latchkey.listKeys({ apiId })).total).toBe(0);
    expect((await latchkey.listAuditEvents()).events).toHaveLength(1);
  });

  test("is taken as a date, also one of another realm, and kept in ms", async () => {
    const context = open();
    const { latchkey } = context;
    const at = NOON + DAY_MS;
    const foreign = runInNewContext(`new Date(${at})`) as Date;
    expect(foreign).not.toBeInstanceOf(Date);
    const { apiId, keyId } = await issue(context, { expires: new Date(at) });
    expect((await latchkey.getKey({ keyId })).expires).toBe(at);
    await latchkey.updateKey({ keyId, expires: new Date(LAST_INSTANT) });
    expect((await latchkey.getKey({ keyId })).expires).toBe(LAST_INSTANT);
    await latchkey.updateKey({ keyId, expires: foreign });
    expect((await latchkey.getKey({ keyId })).expires).toBe(at);
    const createdAt = new Date(NOON - HOUR_MS);
    const { keyIds } = await latchkey.createKeys([
      { apiId, plaintext: "sk_live_1234567890", createdAt },
    ]);
    expect((await latchkey.getKey({ keyId: keyIds[0] as string })).createdAt).toBe(NOON - HOUR_MS);
    await latchkey.createRootKey({ permissions: ["*"], expires: new Date(at) });
    expect((await latchkey.listRootKeys()).rootKeys).toMatchObject([{ expires: at }]);
    const range = { start: new Date(NOON - DAY_MS), end: new Date(NOON + 1) };
    expect((await latchkey.getVerifications({ apiId, ...range })).verifications).toHaveLength(2);
    context.advance(1);
    expect(await latchkey.pruneVerifications({ before: new Date(NOON) })).toEqual({ deleted: 0 });
    expect((await latchkey.pruneAuditEvents({ before: new Date(NOON + 1) })).deleted).toBe(6);
  });

  test("that lies on the wrong side of now is refused as a date as well", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const later = new Date(NOON + 1);
    for (const [call, path, message] of [
      [latchkey.createKey({ apiId, expires: new Date(NOON) }), "expires", "must be later than now"],
      [latchkey.pruneAuditEvents({ before: later }), "before", "must not be later than now"],
      [latchkey.pruneVerifications({ before: later }), "before", "must not be later than now"],
      [
        latchkey.createKeys([{ apiId, plaintext: "sk_live_1234567890", createdAt: later }]),
        "0.createdAt",
        "must not be later than now",
      ],
    ] as const)
      expect((await rejectionOf(call)).issues).toEqual([{ path, message }]);
  });
});

describeOnMemory("the grace of a rotation", (open) => {
  test("is given in ms or with a unit", async () => {
    for (const graceMs of [DAY_MS, "1d", "24h", "1440m", "86400s"] as const) {
      const context = open();
      const { keyId } = await issue(context);
      await context.latchkey.rotateKey({ keyId, graceMs });
      expect((await context.latchkey.getKey({ keyId })).expires).toBe(NOON + DAY_MS);
    }
  });

  test.each([
    [31_536_000_000, true],
    ["365d", true],
    [31_536_000_001, false],
    ["366d", false],
    ["8761h", false],
    ["0s", false],
    ["1w", false],
    [-1, false],
    [9e15, false],
  ])("of %j is at most a year: %j", async (graceMs, isTaken) => {
    const context = open();
    const { keyId } = await issue(context);
    const call = context.latchkey.rotateKey({ keyId, graceMs: graceMs as number });
    const message =
      'must be a whole number of ms from 0 to 31536000000, or as long in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"';
    if (isTaken) await call;
    else expect((await rejectionOf(call)).issues).toEqual([{ path: "graceMs", message }]);
  });
});
