import type { AuditType, Latchkey, LatchkeyError } from "@latchkey/core";
import type { Call } from "../history.js";
import type { World } from "../world/world.js";
import type { Action } from "./action.js";

/** A program that reads the events of a workspace page by page, and keeps its cursor whatever happens to processes. */
export interface Reader {
  readonly workspace: number;
  /** The types that it reads; undefined: all. */
  readonly types: readonly AuditType[] | undefined;
  /** The cursor of its latest page; undefined: it starts from the earliest event. */
  after: string | undefined;
  /** Ids of the events that it has read since it last started from the earliest. */
  events: string[];
  /** From this tick on, it must not miss an event, even if it is pruned later: when it got its first page. */
  since: number;
  /** Its latest call. */
  call: Call | null;
  /** Why it had to start from the earliest event again. */
  readonly restarts: string[];
}

const SOME_TYPES: readonly AuditType[] = ["key.created", "key.updated", "key.deleted"];

/** Two readers for each workspace: one of all events, one of some types. */
export function readersOf(workspaces: number): readonly Reader[] {
  return Array.from({ length: workspaces }, (_, workspace) =>
    [undefined, SOME_TYPES].map(
      (types): Reader => ({
        workspace,
        types,
        after: undefined,
        events: [],
        since: Number.POSITIVE_INFINITY,
        call: null,
        restarts: [],
      }),
    ),
  ).flat();
}

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
  for (let count = 1; count > 0; )
    count = await readPage(world, latchkey, reader, 100).catch((error: unknown) => {
      if (reader.after === undefined) return readPage(world, latchkey, reader, 100);
      throw error;
    });
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
