import type { AuditType } from "@latchkey/core";
import type { Call } from "../history.js";

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
