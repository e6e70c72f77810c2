import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { KeyStore, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "../chance.js";
import { describeOnEveryStore } from "../every-store.js";
import { DAY_MS, type OpenContext, type TestContext } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";
import { losingReplies } from "./losing-replies.js";
import {
  type Apply,
  answerOf,
  CALLS,
  emptyWorld,
  shownWorld,
  type World,
  worldOf,
} from "./model.js";

const ACTORS = ["billing", "console"] as const;
/** Few, so that they collide. */
const IDEMPOTENCY_KEYS = ["a", "b", "c", "d"] as const;

/** A call and its outcome. */
interface Call {
  readonly actor: string;
  readonly idempotencyKey: string;
  /** The operation and its input, which a repetition must share. */
  readonly input: string;
  readonly apply: Apply;
  readonly run: (latchkey: Latchkey) => Promise<unknown>;
  /** Its first execution may have happened just before. */
  readonly isLost?: true;
}

interface Remembered {
  readonly input: string;
  readonly at: number;
  readonly answer: unknown;
}

/** The existing records and the remembered calls. */
interface Model {
  readonly world: World;
  readonly memory: ReadonlyMap<string, Remembered>;
}

const REUSED = { refused: "CONFLICT idempotency-key-reused" };

/** The model after a call with this outcome; null if the outcome is impossible. */
function after(model: Model, call: Call, outcome: unknown, now: number): Model | null {
  const name = `${call.actor} ${call.idempotencyKey}`;
  const known = model.memory.get(name);
  if (known !== undefined && now - known.at < DAY_MS) {
    const expected = known.input === call.input ? known.answer : REUSED;
    const isSame = isDeepStrictEqual(answerOf(outcome), expected);
    return isSame && !("key" in Object(outcome)) ? model : null;
  }
  if (call.isLost !== true && "secretShownBefore" in Object(outcome)) return null;
  const world = call.apply(model.world, outcome);
  if (world === null) return null;
  if ("refused" in Object(outcome)) return { ...model, world };
  const remembered = { input: call.input, at: now, answer: answerOf(outcome) };
  return { world, memory: new Map([...model.memory, [name, remembered]]) };
}

/** The outcome of a call: its answer, or its code and reason. */
async function outcomeOf(latchkey: Latchkey, { actor, run }: Call): Promise<unknown> {
  try {
    return await run(latchkey.actingAs(actor));
  } catch (error) {
    const { code, reason = "" } = error as { readonly code?: string; readonly reason?: string };
    if (code === undefined) throw error;
    return { refused: `${code} ${reason}`.trim() };
  }
}

/** Draws a call of one of the operations on existing or deleted records. */
function drawCall(chance: Chance, world: World): Call {
  const { input, apply, run } = chance.pick(CALLS)(chance, world);
  const idempotencyKey = chance.pick(IDEMPOTENCY_KEYS);
  const actor = chance.pick(ACTORS);
  return { actor, idempotencyKey, input, apply, run: (latchkey) => run(latchkey, idempotencyKey) };
}

/** Advances the clock: not at all, a little, or to the end of a memory, and one ms before and after. */
function moveClock(chance: Chance, context: TestContext, { memory }: Model): void {
  const edges = [...memory.values()].flatMap(({ at }) => [-1, 0, 1].map((by) => at + DAY_MS + by));
  const ahead = edges.filter((edge) => edge >= context.now());
  if (ahead.length > 0 && chance.below(4) === 0) context.setClock(chance.pick(ahead));
  else context.advance(chance.pick([0, 0, 1, 60_000]));
}

/** A store with delayed answers, so that concurrent calls interleave in every step. */
function pausing(store: KeyStore, chance: Chance): KeyStore {
  const later =
    <Given extends readonly unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given) => {
      for (let turns = chance.below(8); turns > 0; turns -= 1) await setImmediate();
      return call(...given);
    };
  const { read, page, commit } = store;
  return wrapped(store, {
    read: later(read.bind(store)),
    page: later(page.bind(store)),
    commit: later(commit.bind(store)),
  });
}

async function followSchedule(open: OpenContext, seed: number, steps: number): Promise<void> {
  const chance = chanceOf(seed);
  const context = open();
  const delays = chanceOf(-seed);
  const slow = () => context.another({ store: pausing(context.store, delays) });
  const processes = [slow(), slow()] as const;
  let model: Model = { world: emptyWorld(), memory: new Map() };
  let latest: Call[] = [];
  for (let step = 0; step < steps; step += 1) {
    moveClock(chance, context, model);
    const call =
      latest.length > 0 && chance.below(2) === 0
        ? chance.pick(latest)
        : drawCall(chance, model.world);
    latest = [...latest.slice(-5), call];
    const way = chance.pick(["alone", "alone", "twice", "beside another input", "lost"] as const);
    const calls: Call[] = [way === "lost" ? { ...call, isLost: true } : call];
    if (way === "twice") calls.push(call);
    if (way === "beside another input") {
      const { actor, idempotencyKey } = call;
      const other = chance.pick(CALLS)(chance, model.world);
      const run = (latchkey: Latchkey) => other.run(latchkey, idempotencyKey);
      calls.push({ ...other, actor, idempotencyKey, run });
    }
    if (way === "lost") {
      const losing = losingReplies(context.store, chance.below(3), chance.pick(LOSSES));
      await outcomeOf(context.another({ store: losing.store }), call);
    }
    const outcomes = await Promise.all(
      calls.map((each, at) => outcomeOf(processes[at] ?? chance.pick(processes), each)),
    );
    const next = anyOrder(model, calls, outcomes, context.now());
    const shown = calls.map(({ actor, idempotencyKey, input }, at) => [
      ...[actor, idempotencyKey, input],
      JSON.stringify(outcomes[at]),
    ]);
    if (next === null)
      expect.fail(`seed ${seed}, step ${step}, ${way}, of no model: ${JSON.stringify(shown)}`);
    model = next;
    expect([seed, step, way, shown, await worldOf(chance.pick(processes))]).toEqual([
      ...[seed, step, way, shown],
      shownWorld(model.world),
    ]);
  }
}

const LOSSES = ["lost", "never came"] as const;

/** The model after the calls were executed one after the other, in either order. */
function anyOrder(
  model: Model,
  calls: readonly Call[],
  outcomes: readonly unknown[],
  now: number,
): Model | null {
  const orders =
    calls.length === 1
      ? [[0]]
      : [
          [0, 1],
          [1, 0],
        ];
  for (const order of orders) {
    let next: Model | null = model;
    for (const at of order)
      if (next !== null) next = after(next, calls[at] as Call, outcomes[at], now);
    if (next !== null) return next;
  }
  return null;
}

describeOnEveryStore("the repeat of a write", (open) => {
  const isOnMemory = (name: string) => name.includes("on memory");
  test("W1: whatever is repeated, changed, lost or called twice at once, it answers and writes as if each had been called once", async ({
    task,
  }) => {
    const [seeds, steps] = isOnMemory(task.suite?.name ?? "") ? [12, 40] : [2, 30];
    const first = Number(process.env.LATCHKEY_LAW_SEED ?? 1);
    for (let seed = first; seed < first + seeds; seed += 1) await followSchedule(open, seed, steps);
  });
});
