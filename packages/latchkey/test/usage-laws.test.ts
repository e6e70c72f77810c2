import type { Latchkey, UsageRow, UsageSubject } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, NOON, rejectionOf, type TestContext } from "./test-context.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261123);
const STEPS = Number(process.env.LATCHKEY_USAGE_STEPS ?? 120);

type ExportInput = Parameters<Latchkey["exportUsage"]>[0];

/** Exports all pages. */
async function exportAll(latchkey: Latchkey, question: ExportInput) {
  const rows: UsageRow[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await latchkey.exportUsage({ ...question, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(question.limit ?? 100);
    rows.push(...page.rows);
    cursor = page.cursor;
    if (cursor === undefined) return { rows, until: page.until };
  }
}

const START_OF = {
  hour: (at: number) => at - (at % HOUR_MS),
  day: (at: number) => at - (at % DAY_MS),
  month: (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()),
};

/** The counts of one verification, or of the end of a reservation. */
interface Counted {
  readonly at: number;
  readonly code: string | null;
  readonly uses: number;
  readonly subjects: Readonly<Record<UsageSubject, readonly string[]>>;
}

interface ModelKey {
  readonly keyId: string;
  readonly key: string;
  readonly apiId: string;
  readonly identityId: string | undefined;
  tags: readonly string[];
  isDeleted: boolean;
}

/** Verifications of all kinds in random order, with a model of their counts. */
class Schedule {
  readonly counted: Counted[] = [];
  readonly keys: ModelKey[] = [];
  readonly open: { readonly id: string; readonly key: ModelKey; readonly uses: number }[] = [];
  apiIds: string[] = [];
  #next = 0;

  constructor(
    readonly context: TestContext,
    readonly chance: Chance,
    readonly processes: readonly Latchkey[],
  ) {}

  count({ keyId, apiId, identityId, tags }: ModelKey, code: string | null, uses: number): void {
    const identity = identityId === undefined ? [] : [identityId];
    const subjects = { key: [keyId], api: [apiId], identity, tag: tags };
    this.counted.push({ at: this.context.now(), code, uses, subjects });
  }

  async step(): Promise<void> {
    const { chance } = this;
    const latchkey = chance.pick(this.processes);
    this.context.advance(chance.below(90) * 60_000);
    const kind = this.keys.length < 3 ? 0 : chance.below(11);
    if (kind === 0) return this.create(latchkey);
    const key = chance.pick(this.keys);
    if (kind === 1 && this.keys.length > 4) {
      if (!key.isDeleted) await latchkey.deleteKey({ keyId: key.keyId });
      key.isDeleted = true;
      return;
    }
    if (kind === 2) return this.reserve(latchkey, key);
    if (kind === 3) return this.settle(latchkey);
    if (kind === 4) return this.repeat(latchkey);
    if (kind === 5) return this.tag(latchkey, key);
    return this.verify(latchkey, key, chance.pick([null, 0, 1, 3, 9]));
  }

  someTags(): readonly string[] {
    return ["tide", "wharf:7", "x.y-z", "other"].filter(() => this.chance.below(3) === 0);
  }

  /** Changes the tags of a key. Later counts belong to the new tags, even in the same hour. */
  async tag(latchkey: Latchkey, key: ModelKey): Promise<void> {
    if (key.isDeleted) return;
    const tags = this.someTags();
    await latchkey.updateKey({ keyId: key.keyId, tags: tags.length === 0 ? null : tags });
    key.tags = tags;
  }

  async create(latchkey: Latchkey): Promise<void> {
    const { chance } = this;
    if (this.apiIds.length < 2)
      this.apiIds.push((await latchkey.createApi({ name: "tide tables" })).apiId);
    const apiId = chance.pick(this.apiIds);
    const externalId = chance.pick([null, "pier-1", "pier-2"]);
    const tags = this.someTags();
    const made = await latchkey.createKey({
      apiId,
      ...(tags.length > 0 && { tags }),
      ...(externalId !== null && { externalId }),
      ...(chance.below(2) === 0 && { remaining: 1 + chance.below(12) }),
      ...(chance.below(4) === 0 && { enabled: false }),
      ...(chance.below(4) === 0 && { ratelimit: { limit: 3, duration: DAY_MS } }),
    });
    const { identity } = await latchkey.getKey({ keyId: made.keyId });
    const identityId = identity?.id;
    this.keys.push({ ...made, key: made.key ?? "", apiId, identityId, tags, isDeleted: false });
  }

  async verify(latchkey: Latchkey, key: ModelKey, cost: number | null): Promise<void> {
    this.#next += 1;
    const requestId = this.chance.below(2) === 0 ? undefined : `request ${this.#next}`;
    const { code } = await latchkey.verifyKey({
      key: key.key,
      ...(cost !== null && { remaining: { cost } }),
      ...(requestId !== undefined && { requestId }),
    });
    if (code === "NOT_FOUND") return;
    this.count(key, code, code === "VALID" ? (cost ?? 1) : 0);
  }

  /** Repeats a request. It takes nothing if the first answer is still remembered, otherwise it counts again. */
  async repeat(latchkey: Latchkey): Promise<void> {
    const key = this.chance.pick(this.keys);
    this.#next += 1;
    const requestId = `repeated ${this.#next}`;
    for (const uses of [1, 0]) {
      const { code } = await latchkey.verifyKey({ key: key.key, requestId });
      if (code !== "NOT_FOUND") this.count(key, code, code === "VALID" ? uses : 0);
    }
  }

  async reserve(latchkey: Latchkey, key: ModelKey): Promise<void> {
    const uses = 1 + this.chance.below(4);
    const verdict = await latchkey.reserve({ key: key.key, remaining: { cost: uses }, ttl: "1d" });
    if (verdict.code === "NOT_FOUND") return;
    this.count(key, verdict.code, 0);
    if (verdict.code === "VALID") this.open.push({ id: verdict.reservationId, key, uses });
  }

  async settle(latchkey: Latchkey): Promise<void> {
    const [reservation] = this.open.splice(this.chance.below(this.open.length + 1), 1);
    if (reservation === undefined) return;
    const { id: reservationId, key, uses } = reservation;
    const cost = this.chance.below(uses + 1);
    for (const _ of [1, 2])
      try {
        const { taken } = await latchkey.settle({ reservationId, remaining: { cost } });
        expect(taken.uses).toBe(cost);
        if (_ === 1 && cost > 0) this.count(key, null, cost);
      } catch (error) {
        // Its key was deleted, or it has expired.
        expect(["NOT_FOUND", "PRECONDITION_FAILED"]).toContain((error as { code: string }).code);
      }
  }

  /** The expected rows of a question, in any order. */
  expected({ by, granularity, start, end }: ExportInput, until: number) {
    const rows = new Map<string, { outcomes: Record<string, number>; uses: number }>();
    for (const { at, code, uses, subjects } of this.counted) {
      const from = START_OF[granularity](at);
      const isAsked = from >= START_OF[granularity](Number(start)) && from < Number(end);
      for (const id of isAsked && from < until ? subjects[by] : []) {
        const name = `${from} ${id}`;
        const row = rows.get(name) ?? { outcomes: {}, uses: 0 };
        rows.set(name, row);
        if (code !== null) row.outcomes[code] = (row.outcomes[code] ?? 0) + 1;
        row.uses += uses;
      }
    }
    return Object.fromEntries(rows);
  }
}

const nameOf = (row: UsageRow) =>
  `${row.start} ${row.keyId ?? row.identityId ?? row.apiId ?? row.tag}`;

const told = (rows: readonly UsageRow[]) =>
  Object.fromEntries(rows.map((row) => [nameOf(row), { outcomes: row.outcomes, uses: row.uses }]));

describeOnEveryStore("usage", (open, runs) => {
  test.each([
    { durable: false, steps: Math.max(STEPS / 3, runs(STEPS)) },
    { durable: true, steps: Math.max(STEPS / 3, runs(STEPS / 2)) },
  ])(
    `V1: rows are what a random schedule really did, by key, identity, API and tag, whatever the pages: durable $durable (seed ${SEED})`,
    {
      timeout: 120_000,
    },
    async ({ durable, steps }) => {
      const context = open({ usage: { durable } });
      const chance = chanceOf(SEED);
      const processes = [context.latchkey, context.another()];
      const schedule = new Schedule(context, chance, processes);
      for (let step = 0; step < steps; step += 1) await schedule.step();
      // Durable usage needs no flush.
      for (const latchkey of durable ? [] : processes)
        await latchkey.getVerifications({ apiId: schedule.apiIds[0] ?? "" });
      context.advance(chance.below(40) * DAY_MS);
      const end = context.now();
      for (const granularity of ["hour", "day", "month"] as const)
        for (const by of ["key", "identity", "api", "tag"] as const) {
          const start = granularity === "hour" ? end - 31 * DAY_MS : NOON - DAY_MS;
          const question = { start, end, granularity, by };
          const { rows, until } = await exportAll(context.latchkey, { ...question, limit: 1_000 });
          expect(told(rows)).toEqual(schedule.expected(question, until));
          expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
          const limit = 1 + chance.below(7);
          const again = await exportAll(context.another(), { ...question, limit });
          expect(again).toEqual({ rows, until });
        }
    },
  );

  test("rows by key and hour add up to the counts of getVerifications", async () => {
    const context = open();
    const schedule = new Schedule(context, chanceOf(SEED + 1), [context.latchkey]);
    while (context.now() < NOON + 2 * DAY_MS) await schedule.step();
    context.advance(HOUR_MS);
    const range = { start: NOON - DAY_MS, end: context.now(), granularity: "day" } as const;
    const { rows, until } = await exportAll(context.latchkey, { ...range, by: "key" });
    for (const { keyId, isDeleted } of schedule.keys) {
      if (isDeleted) continue;
      const { verifications } = await context.latchkey.getVerifications({ keyId, ...range });
      const counted = verifications.filter(
        ({ time, outcomes }) => time < until && Object.keys(outcomes).length > 0,
      );
      const ofKey = rows.filter((row) => row.keyId === keyId);
      expect(
        ofKey.flatMap(({ start, outcomes }) =>
          Object.keys(outcomes).length > 0 ? [{ start, outcomes }] : [],
        ),
      ).toEqual(counted.map(({ time, outcomes }) => ({ start: time, outcomes })));
    }
  });

  test("cursors return every row once and keep their `until`, while verifications continue and hours end", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const keys = await Promise.all(Array.from({ length: 9 }, () => latchkey.createKey({ apiId })));
    const verifyAll = () =>
      Promise.all(keys.map(({ key }) => latchkey.verifyKey({ key: key ?? "" })));
    await verifyAll();
    context.advance(HOUR_MS);
    await verifyAll();
    context.advance(HOUR_MS);
    const question = { start: NOON, end: NOON + DAY_MS, granularity: "hour", by: "key" } as const;
    const rows: UsageRow[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await latchkey.exportUsage({ ...question, cursor, limit: 4 });
      expect(page.until).toBe(NOON + HOUR_MS);
      rows.push(...page.rows);
      cursor = page.cursor;
      await verifyAll();
      context.advance(20 * 60_000);
      if (cursor === undefined) break;
    }
    expect(rows.map(({ keyId }) => keyId)).toEqual(keys.map(({ keyId }) => keyId).toSorted());
    const next = await exportAll(latchkey, { ...question, start: NOON + HOUR_MS });
    expect(next.rows.filter(({ start }) => start === NOON + HOUR_MS)).toHaveLength(9);
    const told = [...rows, ...next.rows].map(({ id }) => id);
    const all = await exportAll(latchkey, question);
    expect(all.rows.map(({ id }) => id).toSorted()).toEqual(told.toSorted());
  });

  test("a span is exported two minutes after its end, and not a millisecond before", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key = "" } = await latchkey.createKey({ apiId });
    await latchkey.verifyKey({ key });
    const question = { start: NOON, end: NOON + 1, granularity: "hour", by: "api" } as const;
    context.setClock(NOON + HOUR_MS + 119_999);
    expect(await latchkey.exportUsage(question)).toEqual({ rows: [], until: NOON });
    context.advance(1);
    expect(await latchkey.exportUsage(question)).toMatchObject({
      rows: [{ apiId, start: NOON, outcomes: { VALID: 1 }, uses: 1 }],
      until: NOON + HOUR_MS,
    });
  });

  test("with durable usage every answered verification is counted at once, for every reader", async () => {
    const context = open({ usage: { durable: true } });
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key = "" } = await latchkey.createKey({ apiId, remaining: 30 });
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        latchkey.verifyKey({ key, remaining: { cost: number % 3 } }),
      ),
    );
    const reserved = await latchkey.reserve({ key, remaining: { cost: 4 } });
    if (reserved.code !== "VALID") throw new TypeError("not reserved");
    const { reservationId } = reserved;
    await context.another().settle({ reservationId, remaining: { cost: 3 } });
    context.advance(2 * HOUR_MS);
    const question = { start: NOON, end: context.now(), granularity: "hour", by: "api" } as const;
    const { rows } = await context.another().exportUsage(question);
    const uses = verdicts.map((_, number) => number % 3).reduce((sum, cost) => sum + cost, 3);
    expect(rows).toMatchObject([{ outcomes: { VALID: 21 }, uses }]);
  });

  test("rows of deleted keys, identities and APIs stay until their statistics are deleted", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key = "", keyId } = await latchkey.createKey({ apiId, externalId: "pier-7" });
    const { identity } = await latchkey.getKey({ keyId });
    const identityId = identity?.id ?? "";
    await latchkey.verifyKey({ key });
    await latchkey.deleteIdentity({ identityId });
    await latchkey.deleteApi({ apiId });
    context.advance(2 * DAY_MS);
    const question = { start: NOON, end: context.now(), granularity: "day" } as const;
    for (const [by, row] of [
      ["key", { keyId }],
      ["identity", { identityId }],
      ["api", { apiId }],
    ] as const)
      expect((await latchkey.exportUsage({ ...question, by })).rows).toMatchObject([row]);
    const elsewhere = latchkey.workspace("ws_other");
    expect((await elsewhere.exportUsage({ ...question, by: "key" })).rows).toEqual([]);
    await latchkey.pruneVerifications({ before: context.now() });
    expect((await latchkey.exportUsage({ ...question, by: "key" })).rows).toEqual([]);
  });

  test.each([true, false])(
    "sums that cannot grow any further block nobody (durable: %s)",
    async (durable) => {
      const context = open({ usage: { durable } });
      const { latchkey } = context;
      const { apiId } = await latchkey.createApi({ name: "tides" });
      const huge = await latchkey.createKey({ apiId });
      const small = await latchkey.createKey({ apiId });
      const verify = async ({ key = "" }, cost: number) => {
        expect((await latchkey.verifyKey({ key, remaining: { cost } })).code).toBe("VALID");
        // Flushes the counts in memory.
        await latchkey.getVerifications({ apiId });
      };
      for (let times = 0; times < 3; times += 1) await verify(huge, Number.MAX_SAFE_INTEGER);
      await verify(small, 5);
      context.advance(DAY_MS);
      const question = { start: NOON, end: context.now(), granularity: "hour" } as const;
      const usesBy = async (by: "key" | "api") =>
        (await latchkey.exportUsage({ ...question, by })).rows.map(({ uses }) => uses);
      expect((await usesBy("key")).toSorted((one, two) => one - two)).toEqual([
        5,
        Number.MAX_SAFE_INTEGER,
      ]);
      expect(await usesBy("api")).toEqual([Number.MAX_SAFE_INTEGER]);
    },
  );

  test("F2: a cursor of another question is refused", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    for (const { key = "" } of [
      await latchkey.createKey({ apiId }),
      await latchkey.createKey({ apiId }),
    ])
      await latchkey.verifyKey({ key });
    context.advance(DAY_MS);
    const question = { start: NOON, end: context.now(), granularity: "hour", by: "key" } as const;
    const { cursor } = await latchkey.exportUsage({ ...question, limit: 1 });
    expect(typeof cursor).toBe("string");
    const others = [
      { ...question, start: NOON + 1 },
      { ...question, end: NOON + HOUR_MS },
      { ...question, granularity: "day" as const },
      { ...question, by: "api" as const },
      { ...question, by: "tag" as const },
    ];
    for (const other of others)
      expect(await rejectionOf(latchkey.exportUsage({ ...other, cursor }))).toMatchObject({
        code: "BAD_REQUEST",
        issues: [{ path: "cursor" }],
      });
    for (const refused of [
      latchkey.workspace("ws_other").exportUsage({ ...question, cursor }),
      latchkey.exportUsage({ ...question, cursor: `${cursor}A` }),
    ])
      expect(await rejectionOf(refused)).toMatchObject({ code: "BAD_REQUEST" });
    const { rows } = await latchkey.exportUsage({ ...question, cursor, limit: 1_000 });
    expect(rows).toHaveLength(1);
  });
});
