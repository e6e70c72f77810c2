import { type Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { HOUR_MS, type TestContext, workspacesOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260616);

/** A reader of the events, and what it may leave out: entries that were gone before it began. */
interface Reader {
  cursor: string | undefined;
  /** Place of the last event that it read, in the order of the commits. */
  at: number;
  mayMiss: ReadonlySet<string>;
}

const isPruned = (error: unknown) => error instanceof LatchkeyError && error.reason === "pruned";

/** All events in the order of their commits, as one process sees them that reads after each write. */
async function createTap(latchkey: Latchkey) {
  const ids: string[] = [];
  let cursor: string | undefined;
  const readOn = async (): Promise<void> => {
    const page: Awaited<ReturnType<Latchkey["readEvents"]>> = await latchkey.readEvents(
      cursor === undefined ? {} : { after: cursor },
    );
    ids.push(...page.events.map(({ id }) => id).filter((id) => !ids.includes(id)));
    cursor = page.cursor;
    if (page.events.length > 0) await readOn();
  };
  const read = () =>
    readOn().catch((error: unknown) => {
      if (!isPruned(error)) throw error;
      cursor = undefined;
      return readOn();
    });
  await read();
  return { ids, read };
}

async function idsIn(latchkey: Latchkey): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { id } of latchkey.auditEvents()) ids.add(id);
  return ids;
}

/** @returns Events that a reader missed or got twice, although nothing told it. */
async function readBesidePruning(context: TestContext, seed: number): Promise<readonly string[]> {
  const { latchkey, store } = context;
  const chance = chanceOf(seed);
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const tap = await createTap(latchkey);
  const clocks = [0, chance.pick([0, HOUR_MS, -HOUR_MS])].map((ms) => () => context.now() + ms);
  const writers = clocks.map((clock) => context.another({ store, clock }));
  const write = async () => {
    await chance.pick(writers).createKey({ apiId });
    await tap.read();
  };
  const prune = async (by: Latchkey) => {
    await by.pruneAuditEvents({ before: by.now() - chance.below(3 * HOUR_MS) });
  };
  let isBusy = false;
  const overtaking = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (!isBusy && chance.below(4) === 0) {
      isBusy = true;
      await (chance.below(2) === 0 ? write() : prune(chance.pick(writers)));
      isBusy = false;
    }
    return call();
  };
  const beside = wrapped(store, {
    read: (...given) => overtaking(() => store.read(...given)),
    page: (...given) => overtaking(() => store.page(...given)),
    commit: (...given) => overtaking(() => store.commit(...given)),
  });
  const overtaken = clocks.map((clock) => context.another({ store: beside, clock }));
  const readers = [0, 1].map((): Reader => ({ cursor: undefined, at: -1, mayMiss: new Set() }));
  const wrong: string[] = [];
  const readOn = async (reader: Reader) => {
    const isNew = reader.cursor === undefined;
    const after = isNew ? {} : { after: reader.cursor };
    const limit = 1 + chance.below(4);
    const { events, cursor } = await chance.pick(overtaken).readEvents({ limit, ...after });
    for (const { id } of events) {
      const place = tap.ids.indexOf(id);
      if (place <= reader.at) wrong.push(`event ${place} after event ${reader.at}`);
      const skipped = isNew ? [] : tap.ids.slice(reader.at + 1, place);
      if (skipped.some((one) => !reader.mayMiss.has(one)))
        wrong.push(`event ${place} after event ${reader.at}, without what is in between`);
      reader.at = place;
    }
    reader.cursor = cursor;
    if (!isNew) return;
    const left = await idsIn(latchkey);
    reader.mayMiss = new Set(tap.ids.filter((id) => !left.has(id)));
  };
  for (let step = 0; step < 30; step += 1) {
    const draw = chance.below(5);
    if (draw === 0) context.advance(chance.below(HOUR_MS));
    else if (draw === 1) await write();
    else if (draw === 2) await prune(chance.pick(overtaken));
    else {
      const reader = chance.pick(readers);
      await readOn(reader).catch((error: unknown) => {
        if (!isPruned(error)) throw error;
        Object.assign(reader, { cursor: undefined, at: -1 });
      });
    }
  }
  return wrong;
}

describeOnEveryStore("pruning the audit log", (open, runs) => {
  test("V1: no reader misses an event silently or gets one twice, whatever is written and pruned between any two calls", async () => {
    const nextWorkspace = workspacesOf(open());
    const last = SEED + runs(100);
    for (let seed = SEED; seed < last; seed += 1)
      expect(await readBesidePruning(nextWorkspace(), seed), `seed ${seed}`).toEqual([]);
  });
});
