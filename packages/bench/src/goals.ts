import { STORE_KINDS, STORE_TITLES, type StoreKind } from "./fixture/stores.js";
import type { Measurement } from "./measure/measurement.js";
import { quartiles, ratios } from "./measure/statistics.js";

/** A performance goal. */
export interface Goal {
  /** Number of the goal, such as `P1`; several goals may share one. */
  readonly id: string;
  readonly work: string;
  /** Id of the measurement that decides. */
  readonly measurement: string;
  /**
   * The figure to compare with the bound. `ratio`: time of the side divided by time of the base; `speed`: the inverse; `value`: the median
   * of the side's samples; `most`: the largest of them, for bounds that no sample may exceed.
   */
  readonly of: "ratio" | "speed" | "value" | "most";
  readonly side: string;
  /** Null: the first side of the measurement. */
  readonly base: string | null;
  readonly bound: { readonly atMost: number } | { readonly atLeast: number };
}

/** The result of a goal. `figure`: null if the run did not measure it. */
export interface GoalResult {
  readonly goal: Goal;
  readonly figure: number | null;
  readonly isMet: boolean;
}

const LARGEST = "1,000,000 keys";

/** Work whose time may not grow with the number of keys, by the last part of its measurement's id. */
const GROWTH = {
  verify: "verification",
  cold: "first verification",
  page: "page with its total",
  middle: "page in the middle",
  create: "createKey",
  import: "import",
  delete: "deleteKey",
};

/** Every goal that can be measured here. */
export const GOALS: readonly Goal[] = [
  ratio("P1", "Memory: permission, uses, window", "verify/memory/uses/1", 1.5),
  ratio("P1", "Memory: the same, 64 in flight", "verify/memory/uses/64", 1.5),
  ratio("P2", "Memory: permission", "verify/memory/permission/1", 1.5),
  ratio("P2", "Memory: bare", "verify/memory/bare/1", 1.3),
  ratio("P3", "SQLite: permission", "verify/sqlite/permission/1", 0.6),
  ratio("P3", "SQLite: the same, while another process writes", "busy/sqlite", 1.3),
  ratio("P4", "SQLite: permission, uses, window", "verify/sqlite/uses/1", 1.15),
  {
    ...speed("P4", "SQLite: as many times as fast as better-auth", "verify/sqlite/uses/1", 60),
    base: "better-auth",
  },
  {
    ...speed("P5", "SQLite: two processes against one", "processes/sqlite/latchkey", 0.9),
    side: "two processes",
  },
  {
    ...value("P5", "SQLite: longest turn of the event loop, ms", "processes/sqlite/blocked", 50),
    of: "most",
  },
  speed("P6", "SQLite: every charge on disk, 64 in flight", "durable/sqlite", 10),
  ratio("P7", "Redis: permission, uses, window", "verify/redis/uses/1", 1.15),
  ...STORE_KINDS.filter((store) => store !== "memory").flatMap((store) => [
    {
      ...ratio(
        "L1",
        `${STORE_TITLES[store]}: leased verification against memory`,
        `leases/${store}/one/1`,
        1.5,
      ),
      side: "leased",
    },
    {
      ...speed(
        "L2",
        `${STORE_TITLES[store]}: four processes with leases against one, one key`,
        `leases/${store}/one/processes`,
        1.8,
      ),
      side: "4 processes",
    },
  ]),
  ratio("P8", "Memory: first verification of a key", "cold/memory", 4),
  ratio("P8", "SQLite: first verification of a key", "cold/sqlite", 1.6),
  ratio("P8", "Redis: first verification of a key", "cold/redis", 2.2),
  value("P8", "Redis: round trips of it", "cold/redis/trips", 2),
  ...STORE_KINDS.flatMap((store) =>
    Object.entries(GROWTH).map(([id, work]) => ({
      ...ratio(
        "P9",
        `${STORE_TITLES[store]}: ${work} at a million keys`,
        `growth/${store}/${id}`,
        1.5,
      ),
      side: LARGEST,
    })),
  ),
  ...STORE_KINDS.map((store) => ({
    ...ratio(
      "P9",
      `${STORE_TITLES[store]}: 99th percentile of a verification while a million keys are deleted`,
      `deletion/${store}`,
      3,
    ),
    base: "quiet",
  })),
  value("P10", "Memory: bytes a key", "bytes/memory/key", 800),
  value("P10", "SQLite: bytes a key", "bytes/sqlite/key", 500),
  value("P10", "Redis: bytes a key", "bytes/redis/key", 800),
  ...(["memory", "sqlite", "redis"] as const).map((store) =>
    value(
      "P10",
      `${STORE_TITLES[store]}: bytes of the audit entry of a creation, over 10,001 keys`,
      `bytes/${store}/entry`,
      350,
    ),
  ),
  speed("P11", "HTTP: verify, 64 connections", "http/verify", 0.8),
  ...STORE_KINDS.map((store) =>
    ratio("P12", `${STORE_TITLES[store]}: createKey`, `create/${store}`, 3),
  ),
  speed("P12", "SQLite: import of 100,000 keys", "import/sqlite", 0.4),
  value("P13", "import of @latchkey/core, ms of CPU", "modules/@latchkey/core", 100),
  value("P13", "import of latchkey, ms of CPU", "modules/latchkey", 200),
  value("P13", "@latchkey/core unpacked, bytes", "tarball/@latchkey/core", 400_000),
  ...STORE_KINDS.map((store) =>
    ratio("P14", `${STORE_TITLES[store]}: page of 100`, `page/${store}`, 2.5),
  ),
  ratio("P15", "SQLite: 64 in flight", "verify/sqlite/uses/64", 0.8),
  ratio("P15", "Redis: 64 in flight", "verify/redis/uses/64", 0.8),
  ratio("P16", "PostgreSQL: permission, uses, window", "verify/postgres/uses/1", 1.25),
  ratio("P16", "PostgreSQL: the same, 64 in flight", "verify/postgres/uses/64", 1.25),
  value("P16", "PostgreSQL: round trips of a first verification", "cold/postgres/trips", 2),
  value("P16", "PostgreSQL: bytes a key", "bytes/postgres/key", 900),
  ...STORE_KINDS.flatMap(beside),
  ...STORE_KINDS.flatMap((store) => against(store, "better-auth")),
  ...against("sqlite", "rate-limiter-flexible"),
];

/** Judges every goal. A goal that was not measured is not met. */
export function judgeGoals(measurements: readonly Measurement[]): readonly GoalResult[] {
  return GOALS.map((goal) => {
    const figure = figureOf(goal, measurements);
    return { goal, figure, isMet: figure !== null && isWithin(figure, goal.bound) };
  });
}

/** Whether a figure meets a bound. A figure equal to the bound does. */
export function isWithin(figure: number, bound: Goal["bound"]): boolean {
  return "atMost" in bound ? figure <= bound.atMost : figure >= bound.atLeast;
}

function figureOf(goal: Goal, measurements: readonly Measurement[]): number | null {
  const sides = measurements.find(({ id }) => id === goal.measurement)?.sides ?? [];
  const side = sides.find(({ name }) => name === goal.side);
  if (side === undefined) return null;
  if (goal.of === "value") return quartiles(side.samples).median;
  if (goal.of === "most") return Math.max(...side.samples);
  const base = goal.base === null ? sides[0] : sides.find(({ name }) => name === goal.base);
  if (base === undefined) return null;
  return goal.of === "ratio"
    ? ratios(side.samples, base.samples).median
    : ratios(base.samples, side.samples).median;
}

function ratio(id: string, work: string, measurement: string, atMost: number): Goal {
  return { id, work, measurement, of: "ratio", side: "latchkey", base: null, bound: { atMost } };
}

function speed(id: string, work: string, measurement: string, atLeast: number): Goal {
  return { id, work, measurement, of: "speed", side: "latchkey", base: null, bound: { atLeast } };
}

/** Goals for other limits against a fixed window, and for reservations against a verification. */
function beside(store: StoreKind): readonly Goal[] {
  const of = (id: string, task: string, side: string, atMost: number): Goal => ({
    ...ratio(id, `${STORE_TITLES[store]}: ${side}`, `${task}/${store}/${side}`, atMost),
    side,
  });
  return [
    of("P17", "algorithms", "sliding", 1.1),
    of("P17", "algorithms", "token-bucket", 1.1),
    of("P18", "reserve", "reserve", 1.4),
    of("P18", "reserve", "settle", 1.2),
  ];
}

/** Goals for the guarded question against a peer, one at a time and 64 in flight. */
function against(store: StoreKind, base: string): readonly Goal[] {
  const work = `${STORE_TITLES[store]}: against ${base}`;
  return [
    { ...ratio("peers", work, `verify/${store}/uses/1`, 1), base },
    { ...ratio("peers", `${work}, 64 in flight`, `verify/${store}/uses/64`, 1), base },
  ];
}

function value(id: string, work: string, measurement: string, atMost: number): Goal {
  return { id, work, measurement, of: "value", side: "latchkey", base: null, bound: { atMost } };
}
