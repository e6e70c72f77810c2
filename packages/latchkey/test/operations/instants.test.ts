import { runInNewContext } from "node:vm";
import {
  deliveriesOf,
  type Latchkey,
  type LatchkeyError,
  OPERATIONS,
  type OperationName,
} from "@latchkey/core";
import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

const LAST_INSTANT = 8_640_000_000_000_000;

/** Fields that are instants, with their bounds. */
const INSTANTS: Readonly<Record<string, readonly [first: number, last: number]>> = {
  expires: [1, LAST_INSTANT],
  startsAt: [1, LAST_INSTANT],
  createdAt: [0, LAST_INSTANT],
  expiresBefore: [0, LAST_INSTANT],
  expiresAfter: [0, LAST_INSTANT],
  usedBefore: [0, LAST_INSTANT],
  usedAfter: [0, LAST_INSTANT],
  createdBefore: [0, LAST_INSTANT],
  createdAfter: [0, LAST_INSTANT],
  start: [0, 253_402_300_799_999],
  end: [0, 253_402_300_799_999],
  before: [0, LAST_INSTANT],
};

/** Fields that accept a number as large as an instant, but are no instants. */
const OTHER_NUMBERS: readonly string[] = [
  // Counts.
  ...["amount", "burst", "carryOver", "cost", "limit", "maxRemaining", "remaining", "value"],
  // Spans.
  ...["duration", "every", "expiresIn", "expiresWhenUnused", "maxExpiresIn"],
  // Ignored, so that a refill can be given as reads show it.
  "lastRefillAt",
];

/** The part of a schema that is used here. */
interface Schema {
  safeParse(value: unknown): { readonly success: boolean };
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly shape?: Readonly<Record<string, Schema>>;
      readonly element?: Schema;
      readonly options?: readonly Schema[];
      readonly innerType?: Schema;
      readonly in?: Schema;
      readonly out?: Schema;
    };
  };
}

/** Paths of all fields that accept an instant as a number or a date, but not any value. */
function pathsIn(schema: Schema, path: readonly string[] = []): string[] {
  // A transform gets only what earlier steps of the schema accept.
  if (schema._zod.def.type === "transform") return [];
  const takes = (value: unknown) => schema.safeParse(value).success;
  if ((takes(NOON) || takes(new Date(NOON))) && !takes("a text") && !takes({}))
    return [path.join(".")];
  const { shape = {}, element, options = [], innerType, in: from, out: to } = schema._zod.def;
  const parts: [string[], Schema | undefined][] = [
    ...Object.entries(shape).map(([name, field]): [string[], Schema] => [[...path, name], field]),
    [[...path, "0"], element],
    ...[...options, innerType, from, to].map((part): [string[], typeof part] => [[...path], part]),
  ];
  return parts.flatMap(([at, part]) => (part === undefined ? [] : pathsIn(part, at)));
}

const lastOf = (path: string) => path.split(".").at(-1) ?? "";

/** An input with one field. */
const inputOf = (path: string, value: unknown) =>
  path.split(".").reduceRight((inner, at) => (at === "0" ? [inner] : { [at]: inner }), value);

type Call = (input: never) => Promise<unknown>;

/** The number fields of every operation. */
const NUMBERS = Object.entries(OPERATIONS).flatMap(([name, { input }]) =>
  input === null
    ? []
    : [...new Set(pathsIn(input as unknown as Schema))].map((path) => ({
        name,
        path,
        callOf: async (latchkey: Latchkey): Promise<Call> =>
          latchkey[name as OperationName] as Call,
      })),
);

/** Every input with an instant, including those of other functions. */
const INPUTS: typeof NUMBERS = [
  ...NUMBERS.filter(({ path }) => lastOf(path) in INSTANTS),
  {
    name: "createMyKey",
    path: "expires",
    async callOf(latchkey) {
      const [api] = (await latchkey.listApis()).apis;
      const allow = { apiIds: [api?.id ?? ""], create: true };
      const { secret } = await latchkey.createPortalSession({ externalId: "pier-7", allow });
      return (await latchkey.openPortalSession(secret))?.createMyKey as Call;
    },
  },
  {
    name: "pruneDeadLetters",
    path: "before",
    callOf: async (latchkey) => deliveriesOf(latchkey).pruneDeadBefore,
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
  test("is the type of each of these fields, and no other field accepts a number as large", () => {
    const names = NUMBERS.map(({ path }) => lastOf(path));
    expect([...new Set(names)].sort()).toEqual(
      [...Object.keys(INSTANTS), ...OTHER_NUMBERS].toSorted(),
    );
    expect(INPUTS.length).toBeGreaterThan(20);
  });

  test.each(INPUTS)(
    "of $name, $path: an invalid one is refused by name and bound",
    async (input) => {
      const { latchkey } = open();
      const { apiId } = await latchkey.createApi({ name: "tide tables" });
      const call = await input.callOf(latchkey);
      const { events } = await latchkey.listAuditEvents();
      const path = input.name === "createMyKey" ? "of a portal" : lastOf(input.path);
      const [first, last] = INSTANTS[path] ?? [0, LAST_INSTANT];
      const message = `must be an instant from ${first} to ${last}: whole ms since the Unix epoch (or a JavaScript Date)`;
      for (const [name, value] of NO_INSTANTS) {
        const error = await rejectionOf(call(inputOf(input.path, value) as never));
        expect([name, error.code], name).toEqual([name, "BAD_REQUEST"]);
        expect(error.issues, name).toContainEqual({ path: input.path, message });
      }
      expect((await latchkey.listKeys({ apiId })).total).toBe(0);
      expect((await latchkey.listAuditEvents()).events).toEqual(events);
      for (const date of [new Date(NOON), runInNewContext(`new Date(${NOON})`)]) {
        // Other missing fields may be refused.
        const issues = await call(inputOf(input.path, date) as never).then(
          () => [],
          (error: LatchkeyError) => error.issues,
        );
        expect(issues).not.toContainEqual({ path: input.path, message });
      }
    },
  );

  test("may be a Date, even of another realm, and is stored in ms", async () => {
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

  test("as an expiry in seconds is refused with a hint at the unit", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const seconds = NOON / 1000;
    const message = "must be later than now: it is in ms, and this looks like a time in seconds";
    for (const [expires, expected] of [
      [seconds, "must be later than now"],
      [seconds + 1, message],
      [seconds + 3600, message],
      [99_999_999_999, message],
      [100_000_000_000, "must be later than now"],
      [3600, "must be later than now"],
    ] as const)
      expect((await rejectionOf(latchkey.createKey({ apiId, expires }))).issues).toEqual([
        { path: "expires", message: expected },
      ]);
  });

  test("on the wrong side of now is refused as a Date, too", async () => {
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
  test("may be in ms or with a unit", async () => {
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
      'must be a whole number of ms from 0 to 31536000000, or the same in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"';
    if (isTaken) await call;
    else expect((await rejectionOf(call)).issues).toEqual([{ path: "graceMs", message }]);
  });
});
