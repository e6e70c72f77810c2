import { interceptStore, type Latchkey, LatchkeyError, type UsageRow } from "@latchkey/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, NOON, type TestContext, workspacesOf } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

const STEPS = 80;

/** How far the clocks of the processes are off: within a minute of each other. */
const OFFSETS_MS = [-30_000, 30_000, 0] as const;

type Question = Omit<Parameters<Latchkey["exportUsage"]>[0], "cursor" | "limit">;

/** A process with a clock of its own. Its store may be away. */
interface Process {
  readonly latchkey: Latchkey;
  readonly offsetMs: number;
  isAway: boolean;
}

/** An export that was read to its end. */
interface Exported {
  readonly question: Question;
  readonly until: number;
  readonly rows: readonly UsageRow[];
}

/** Waits for a call, which the store may not answer. A reservation may be over. */
async function made<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    const { code } = error as LatchkeyError;
    expect(["STORE_UNAVAILABLE", "PRECONDITION_FAILED", "NOT_FOUND"]).toContain(code);
    return null;
  }
}

async function exported(
  latchkey: Latchkey,
  question: Question,
  limit = 1_000,
  afterPage = () => {},
): Promise<Exported> {
  const rows: UsageRow[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await latchkey.exportUsage({ ...question, cursor, limit });
    rows.push(...page.rows);
    cursor = page.cursor;
    if (cursor === undefined) return { question, until: page.until, rows };
    afterPage();
  }
}

/** Processes that count, export and prune in random order. */
class Schedule {
  readonly exports: Exported[] = [];
  /** Rows that start earlier may be gone, or smaller. */
  prunedUntil = 0;
  readonly processes: Process[];
  readonly #keys: { readonly key: string; readonly keyId: string }[] = [];
  readonly #open: string[] = [];
  /** Whether a call that takes long is under way. */
  #isBusy = false;

  constructor(
    readonly context: TestContext,
    readonly chance: Chance,
    readonly isDurable: boolean,
  ) {
    this.processes = OFFSETS_MS.map((offsetMs) => this.#started(offsetMs));
  }

  #started(offsetMs: number): Process {
    const { context, chance, isDurable } = this;
    const state = { offsetMs, isAway: false };
    const store = interceptStore(context.store, ({ method }, run) => {
      if (state.isAway)
        throw new LatchkeyError("STORE_UNAVAILABLE", "away", { outcome: "not-applied" });
      const isSlow = !this.#isBusy && method !== "readClock" && chance.below(20) === 0;
      return isSlow ? this.#late(offsetMs, run) : run();
    });
    const latchkey = context.another({
      store: unclosed(store),
      clock: () => Date.now() + offsetMs,
      usage: { durable: isDurable, flushMs: "1h" },
      onError: () => undefined,
    });
    return Object.assign(state, { latchkey });
  }

  /** Makes a call that takes long, while another process exports. */
  async #late(offsetMs: number, run: () => unknown): Promise<unknown> {
    this.#isBusy = true;
    this.pass(this.chance.below(10_000));
    const others = this.processes.filter((other) => other.offsetMs !== offsetMs);
    await this.#export(this.chance.pick(others).latchkey);
    this.#isBusy = false;
    return run();
  }

  pass(ms: number): void {
    vi.advanceTimersByTime(ms);
  }

  /** Lets time pass, mostly around the end of an hour, where its rows become final. */
  #passSome(): void {
    const intoHour = Date.now() % HOUR_MS;
    const isOver = intoHour > 160_000 && intoHour < HOUR_MS - 60_000;
    const days = this.chance.below(10) === 0 ? this.chance.below(40) * DAY_MS : 0;
    this.pass(isOver ? HOUR_MS - 60_000 - intoHour + days : this.chance.below(20_000));
  }

  async createKeys(): Promise<void> {
    const { latchkey } = this.context;
    const { apiId } = await latchkey.createApi({ name: "tides" });
    for (const fields of [{}, { externalId: "pier-7" }, { tags: ["wharf"] }]) {
      const { key = "", keyId } = await latchkey.createKey({ apiId, ...fields });
      this.#keys.push({ key, keyId });
    }
  }

  async step(): Promise<void> {
    this.#passSome();
    const { chance } = this;
    const process = chance.pick(this.processes);
    const { latchkey } = process;
    const { key, keyId } = chance.pick(this.#keys);
    const kind = chance.below(20);
    if (kind < 7) await made(latchkey.verifyKey({ key, remaining: { cost: chance.below(3) } }));
    else if (kind < 12) await this.#export(latchkey);
    else if (kind < 14) await made(latchkey.getVerifications({ keyId }));
    else if (kind === 14) {
      const held = await made(latchkey.reserve({ key, ttl: "1d" }));
      if (held?.code === "VALID") this.#open.push(held.reservationId);
    } else if (kind === 15) {
      const reservationId = this.#open.shift();
      if (reservationId !== undefined) await made(latchkey.settle({ reservationId }));
    } else if (kind === 16) process.isAway = chance.below(3) === 0;
    else if (kind === 17) {
      // Closed, or killed.
      if (chance.below(2) === 0) await latchkey.close();
      this.processes[this.processes.indexOf(process)] = this.#started(process.offsetMs);
    } else if (kind === 18) {
      const tags = chance.pick([["wharf"], ["wharf", "tide"], null]);
      await made(latchkey.updateKey({ keyId, tags }));
    } else if (chance.below(3) === 0) {
      const before = latchkey.now() - chance.below(40) * DAY_MS;
      if ((await made(latchkey.pruneVerifications({ before }))) !== null)
        this.prunedUntil = Math.max(this.prunedUntil, before);
    }
  }

  async #export(latchkey: Latchkey): Promise<void> {
    const { chance } = this;
    const end = latchkey.now();
    const question = {
      start: end - chance.below(31 * DAY_MS) - 1,
      end,
      granularity: chance.pick(["hour", "hour", "day", "month"] as const),
      by: chance.pick(["key", "identity", "api", "tag"] as const),
    };
    const afterPage = () => this.pass(chance.below(5_000));
    const all = await made(exported(latchkey, question, 1 + chance.below(9), afterPage));
    if (all !== null) this.exports.push(all);
  }
}

describeOnEveryStore("usage", (open, runs) => {
  test.each([false, true])(
    "a row that was exported is final, and none appears beside it, whatever the processes do: durable %s",
    { timeout: 120_000 },
    async (isDurable) => {
      vi.useFakeTimers({ toFake: ["Date", "performance"] });
      onTestFinished(() => void vi.useRealTimers());
      const nextWorkspace = workspacesOf(open());
      for (const seed of seedsOf(runs(40))) {
        vi.setSystemTime(NOON + seed * DAY_MS);
        const schedule = new Schedule(nextWorkspace(), chanceOf(seed), isDurable);
        await schedule.createKeys();
        for (let step = 0; step < STEPS; step += 1) await schedule.step();
        for (const process of schedule.processes) {
          process.isAway = false;
          await process.latchkey.close();
        }
        schedule.pass(HOUR_MS);
        const reader = schedule.context.another({ clock: Date.now });
        for (const { question, until, rows } of schedule.exports) {
          const again = await exported(reader, question);
          const kept = (all: readonly UsageRow[]) =>
            all.filter(({ start }) => start < until && start >= schedule.prunedUntil);
          const why = `seed ${seed}: ${JSON.stringify(question)}`;
          expect(kept(again.rows), why).toEqual(kept(rows));
        }
      }
    },
  );

  test("counts that take ten seconds to write are in no row that a clock a minute ahead has exported", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: NOON - 10_000 });
    onTestFinished(() => void vi.useRealTimers());
    const context = open();
    const exporting = context.another({ clock: () => Date.now() + 60_000 });
    const question = { start: NOON - HOUR_MS, end: NOON, granularity: "hour", by: "api" } as const;
    for (let waitMs = 5_000; waitMs < 130_000; waitMs += 5_000) {
      const exports: Exported[] = [];
      const counting = context.another({
        clock: Date.now,
        store: interceptStore(unclosed(context.store), async ({ method }, run) => {
          if (method === "addStatistics") {
            vi.advanceTimersByTime(10_000);
            exports.push(await exported(exporting, question));
          }
          return run();
        }),
      });
      vi.setSystemTime(NOON - 10_000);
      const { apiId } = await counting.createApi({ name: "tides" });
      const { key = "" } = await counting.createKey({ apiId });
      await counting.verifyKey({ key });
      vi.advanceTimersByTime(waitMs);
      await counting.getVerifications({ apiId });
      const [during] = exports;
      const later = await exported(exporting, question);
      const isAdded = later.rows.some((row) => row.apiId === apiId);
      const wasFinal = during?.until === NOON;
      expect({ waitMs, isAdded, wasFinal }).not.toEqual({ waitMs, isAdded: true, wasFinal: true });
    }
  });
});
