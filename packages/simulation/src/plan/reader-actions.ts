import type { Latchkey, LatchkeyError } from "@latchkey/core";
import type { Reader } from "../world/readers.js";
import type { World } from "../world/world.js";
import type { Action } from "./action.js";

/** Why a position cannot be read on from. */
const GAPS: ReadonlySet<string> = new Set(["pruned", "unknown-position"]);

async function readPage(
  { scheduler }: World,
  latchkey: Latchkey,
  reader: Reader,
  limit: number,
): Promise<number> {
  const { after, types } = reader;
  try {
    const page = await latchkey.readEvents({ after, types, limit });
    if (after === undefined) reader.since = scheduler.nextTick();
    reader.events.push(...page.events.map(({ id }) => id));
    reader.after = page.cursor;
    return page.events.length;
  } catch (error) {
    const { reason = "" } = error as LatchkeyError;
    if (GAPS.has(reason)) {
      const restarts = [...reader.restarts, reason];
      Object.assign(reader, {
        after: undefined,
        events: [],
        since: Number.POSITIVE_INFINITY,
        restarts,
      });
    }
    throw error;
  }
}

/** Reads all pages that are left. A reader whose position is gone starts from the earliest event. */
async function readToTheEnd(world: World, latchkey: Latchkey, reader: Reader): Promise<number> {
  const before = reader.events.length;
  // A page may be empty although others follow.
  for (let at: string | null = null; at !== reader.after; ) {
    at = reader.after ?? null;
    await readPage(world, latchkey, reader, 100).catch((error: unknown) => {
      if (reader.after !== undefined) throw error;
    });
  }
  return reader.events.length - before;
}

/** A page of events, or with `isToTheEnd` all that are left. */
export const READER_ACTIONS: { readonly readEvents: Action } = {
  readEvents: {
    weight: 8,
    choose: (random) => ({ drawn: random.below(1_000), limit: random.pick([1, 3, 100, 100, 100]) }),
    perform: ({ world, process, action }, { drawn, limit, isToTheEnd }) => {
      const reader = readerAt(world, drawn as number);
      if (reader.call?.outcome.kind === "pending") return;
      const { workspace } = reader;
      const args = { ...(isToTheEnd !== true && { limit }), some: reader.types !== undefined };
      world.call({ process, action, args, workspace, key: null }, (latchkey, call) => {
        reader.call = call;
        return isToTheEnd === true
          ? readToTheEnd(world, latchkey, reader)
          : readPage(world, latchkey, reader, limit as number);
      });
    },
  },
};

function readerAt({ readers }: World, drawn: number): Reader {
  return readers[drawn % readers.length] as Reader;
}
