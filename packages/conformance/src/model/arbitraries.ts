import {
  LAST_INSTANT,
  type LimitKind,
  type RecordKind,
  STATISTICS_SPAN_MS,
  SUM_CODES,
} from "@latchkey/core";
import fc from "fast-check";
import { at, DAY, MINUTE, NOW, OTHER_WORKSPACE, usesOf, WORKSPACE } from "../fixtures/records.js";

/** Few of everything, so that sequences meet the same records again and again. */
export const WORKSPACES = [WORKSPACE, OTHER_WORKSPACE] as const;
export const NUMBERS = [1, 2, 3] as const;
export const KINDS = ["key", "identity"] as const satisfies readonly RecordKind[];
export const NAMES = ["one", "two", "three"] as const;
export const LISTS = [
  { list: "all" },
  { list: "all", of: "a" },
  { list: "all", of: "b b" },
  { list: "others" },
] as const;
/** Named as core names windows: the name tells what comes back of a hold. */
export const WINDOWS = [
  "60000:minute",
  "3600000:hour",
  "s600000:sliding",
  "t60000:bucket",
  "c60000:slots",
] as const;
const [MINUTES, HOURS, ...OTHER_WINDOWS] = WINDOWS;
export const SLOTS = WINDOWS[4];

/** How the limits that take from each window count. */
export const WINDOW_KINDS = {
  "60000:minute": { algorithm: "fixed", duration: MINUTE },
  "3600000:hour": { algorithm: "fixed", duration: 60 * MINUTE },
  "s600000:sliding": { algorithm: "sliding", duration: 10 * MINUTE },
  "t60000:bucket": { algorithm: "token-bucket", duration: MINUTE },
  "c60000:slots": { algorithm: "concurrent", duration: MINUTE },
} as const satisfies Record<(typeof WINDOWS)[number], LimitKind>;

const MAX = Number.MAX_SAFE_INTEGER;

const pick = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const some = <Value>(values: fc.Arbitrary<Value>, most = 2) =>
  fc.array(values, { maxLength: most });

const workspace = fc.oneof(
  { weight: 5, arbitrary: fc.constant(WORKSPACE) },
  { weight: 1, arbitrary: fc.constant(OTHER_WORKSPACE) },
);
const address = fc.tuple(pick(KINDS), pick(NUMBERS)).map(([kind, number]) => at(kind, number));

/** How an expectation relates to the current record: most hold. */
const expectation = fc.record({
  address,
  relation: fc.oneof(
    { weight: 6, arbitrary: fc.constant("as it is" as const) },
    { weight: 1, arbitrary: pick(["exists", "exists", "absent", "moved"] as const) },
  ),
  hasHandle: fc.boolean(),
});

const remaining = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 6 }) },
  { weight: 1, arbitrary: pick([null, MAX, MAX - 1]) },
);
const instant = fc.integer({ min: -3, max: 3 }).map((days) => NOW + days * DAY);
const usage = fc
  .record({ remaining, refilledAt: instant, lastRefillAt: fc.option(instant) })
  .map((fields) => usesOf(fields.remaining, fields));
/** `carried`: units of a refill that carries over, counted from the instant in the counters, or from another one. */
const refill = fc.option(
  fc.record({
    amount: fc.integer({ min: 1, max: 5 }),
    dueAt: instant,
    carried: fc.option(
      fc.record({ units: fc.nat({ max: 4 }), since: fc.option(instant, { freq: 5 }) }),
      { freq: 4 },
    ),
  }),
);

const put = fc.record({
  address,
  rise: fc.integer({ min: -1, max: 2 }),
  link: fc.option(pick(NUMBERS).map((number) => at("identity", number).id)),
  body: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ name: "plain" })),
  counters: fc.oneof(
    fc.constant(null),
    fc.record({ usage }),
    fc.record({ sharedWith: pick(NUMBERS) }),
  ),
});

const operation = fc.oneof(
  fc.constant({ kind: "keep" as const }),
  fc.record({ kind: fc.constant("set" as const), remaining }),
  fc.record({ kind: fc.constant("increment" as const), by: fc.nat({ max: 3 }) }),
  fc.record({ kind: fc.constant("decrement" as const), by: fc.nat({ max: 3 }) }),
);
const counterChange = fc.record(
  {
    address,
    usage: fc.record({ due: refill, operation, restartsAt: fc.option(instant, { freq: 2 }) }),
    keepWindows: fc.constantFrom<readonly string[]>(
      [],
      [MINUTES],
      [HOURS, ...OTHER_WINDOWS],
      WINDOWS,
    ),
    dropWindows: fc.array(pick(WINDOWS), { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ["address"] },
);

const claim = fc.record({ address, index: pick(["a", "b"]), value: pick(NAMES) });
const entry = fc.record({ address, list: pick(LISTS) });

const change = fc.record({
  type: fc.constant("commit" as const),
  workspace,
  expects: some(expectation),
  puts: some(put, 3),
  deletes: some(address, 1),
  claims: some(claim),
  releases: some(claim),
  enters: some(entry, 3),
  leaves: some(entry),
  counters: some(counterChange),
  dropWindows: some(pick(WINDOWS), 1),
  revision: fc.option(pick([1, 2, 3, Number.MAX_SAFE_INTEGER - 1])),
});

const limit = fc.record({
  window: pick(WINDOWS),
  limit: fc.integer({ min: 1, max: 8 }),
  burst: fc.integer({ min: 1, max: 8 }),
  shadow: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
  cost: fc.nat({ max: 3 }),
  owner: pick([0, 1, null]),
});

/** By how much the clock moves before a charge: not back by half a day, so that no window that may be forgotten counts. */
const move = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -90_000, max: 90_000 }) },
  { weight: 1, arbitrary: pick([-3_600_000, 3_600_000, DAY]) },
);

const moment = {
  move,
  refill,
  request: fc.option(fc.record({ id: pick(["r1", "r2"]), fingerprint: pick(["f1", "f2"]) }), {
    freq: 3,
  }),
};

const taking = { cost: fc.nat({ max: 3 }), uses: pick([0, 0, 1, null]), limits: some(limit, 3) };

const hold = fc.record({
  keeps: pick(["all", "all", "slots"] as const),
  ttl: pick([1_000, MINUTE, 60 * MINUTE, 3 * DAY, LAST_INSTANT]),
  slotTtl: pick([1_000, MINUTE]),
  most: fc.tuple(pick([2, 9]), pick([3, 9])),
});

const charge = fc.record({
  type: fc.constant("charge" as const),
  workspace,
  confirms: fc.array(expectation, { minLength: 1, maxLength: 2 }),
  revision: pick(["any", "as it is", "as it is", "as it is", "moved"] as const),
  mode: pick(["commit", "commit", "commit", "peek"] as const),
  ...taking,
  hold: fc.option(hold, { freq: 2 }),
  ...moment,
});

/** A charge that usually holds something: of a current key, and of its identity. */
const reservation = fc
  .record({
    type: fc.constant("charge" as const),
    workspace,
    key: pick([1, 2]),
    isOfIdentity: fc.boolean(),
    ...taking,
    hold,
    ...moment,
  })
  .map(({ key, isOfIdentity, ...step }) => {
    const addresses = [at("key", key), ...(isOfIdentity ? [at("identity", 1)] : [])];
    const relation = "as it is" as const;
    const confirms = addresses.map((each) => ({ address: each, relation, hasHandle: true }));
    return { ...step, confirms, revision: "as it is" as const, mode: "commit" as const };
  });

const end = fc.record({
  kind: fc.constant("end" as const),
  uses: fc.option(fc.nat({ max: 3 })),
  limits: fc.uniqueArray(
    fc.record({
      name: pick(["minute", "hour", "sliding", "bucket", "slots", "unknown"]),
      cost: fc.nat({ max: 2 }),
    }),
    { maxLength: 2, selector: ({ name }) => name },
  ),
  rest: fc.boolean(),
});
const renewal = fc.record({
  kind: fc.constant("renew" as const),
  ttl: fc.option(pick([1_000, MINUTE, 4 * DAY])),
});

const settling = fc.record({
  type: fc.constant("settle" as const),
  workspace,
  /** How many holds ago. */
  ago: fc.nat({ max: 4 }),
  step: fc.oneof(
    { weight: 3, arbitrary: end },
    // Names nothing that may not be held: most other ends are refused.
    { weight: 3, arbitrary: end.map((each) => ({ ...each, uses: 0, limits: [] })) },
    { weight: 1, arbitrary: renewal },
  ),
  revision: pick(["any", "as it is", "as it is", "as it is", "moved"] as const),
  move,
});

const refreshing = fc.record({
  type: fc.constant("refresh" as const),
  workspace,
  address,
  refill,
  move,
});

const repeat = fc.record({
  type: fc.constant("charge again" as const),
  /** How many plans ago. */
  ago: fc.nat({ max: 5 }),
  ...moment,
});

const subject = fc.record({ kind: pick(["key", "api"] as const), id: pick(["s1", "s2"]) });
const hourAt = fc
  .integer({ min: -40, max: 40 })
  .map((hour) => NOW - (NOW % STATISTICS_SPAN_MS) + hour * STATISTICS_SPAN_MS);

const statistics = fc.record({
  type: fc.constant("statistics" as const),
  workspace,
  counts: fc.uniqueArray(
    fc.record({
      subject,
      hourAt,
      code: pick(SUM_CODES),
      count: fc.integer({ min: 1, max: 9 }),
    }),
    {
      maxLength: 4,
      selector: ({ subject: { kind, id }, hourAt: hour, code }) => `${kind} ${id} ${hour} ${code}`,
    },
  ),
  uses: fc.uniqueArray(fc.record({ address, usedAt: instant }), {
    maxLength: 3,
    selector: ({ address: { kind, id } }) => `${kind} ${id}`,
  }),
});

const forgetting = fc.record({
  type: fc.constant("forget" as const),
  workspace,
  days: fc.integer({ min: -2, max: 2 }),
});

const page = fc.record({
  type: fc.constant("page" as const),
  workspace,
  kind: pick(KINDS),
  list: pick(LISTS),
  after: fc.option(address.map(({ id }) => id)),
  limit: fc.integer({ min: 1, max: 4 }),
  descending: fc.boolean(),
});

const read = fc.record({ type: fc.constant("read" as const), workspace });

/** One call of a random sequence, as far as it can be chosen before the contents of the store are known. */
export const step = fc.oneof(
  { weight: 6, arbitrary: change },
  { weight: 6, arbitrary: charge },
  { weight: 4, arbitrary: repeat },
  { weight: 5, arbitrary: reservation },
  { weight: 4, arbitrary: settling },
  { weight: 1, arbitrary: refreshing },
  { weight: 2, arbitrary: page },
  { weight: 2, arbitrary: read },
  { weight: 1, arbitrary: statistics },
  { weight: 1, arbitrary: forgetting },
);

/** One value of {@link step}. */
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
/** A step of one type. */
export type StepOf<Type extends Step["type"]> = Extract<Step, { readonly type: Type }>;
