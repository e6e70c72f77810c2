import type { AuditType } from "@latchkey/core";
import type { Reader } from "../world/readers.js";
import type { World } from "../world/world.js";
import { type AuditEntry, resourceOf, writtenRecords } from "./stored-records.js";

/** Law: a reader of events gets each event once, in the order of the log, and misses none without being told. */
export function readersMissNothing(world: World): string | null {
  const hasPruned = world.plan.steps.some(({ action }) => action === "pruneLog");
  const hasLost = world.losses.length > 0;
  const causes = { pruned: hasPruned, "unknown-position": hasLost };
  for (const reader of world.readers) {
    const { workspace, types, call, restarts } = reader;
    if (call === null) continue;
    const who = `the reader of ${types ?? "all events"} of workspace ${workspace}`;
    const odd = restarts.find((reason) => causes[reason as keyof typeof causes] !== true);
    if (odd !== undefined) return `${who} is told ${odd}`;
    const wrong = faultOf(reader, writtenIn(world, reader), hasLost, hasPruned && hasLost);
    if (wrong !== null) return `${who} ${wrong}`;
  }
  return null;
}

/** An event, and whether the log still has it. */
export interface WrittenEvent {
  readonly id: string;
  /** When it was first written. */
  readonly tick: number;
  readonly isThere: boolean;
  /** Id of the key that it is about, otherwise of the object. */
  readonly lane: string;
}

/** `mayRevive`: whether the log may have events again that were pruned, because the store lost the pruning. */
function faultOf(
  { events, since }: Reader,
  written: readonly WrittenEvent[],
  hasLost: boolean,
  mayRevive: boolean,
): string | null {
  if (new Set(events).size < events.length) return `reads an event twice: ${events}`;
  const log = written.filter(({ isThere }) => isThere).map(({ id }) => id);
  const own = events.filter((one) => log.includes(one));
  const wanted = mayRevive ? log.filter((one) => events.includes(one)) : log;
  if (own.join() !== wanted.join()) return `reads ${own}, and the log has ${wanted}`;
  const missed = written.find(({ id, tick }) => tick > since && !events.includes(id));
  return hasLost || missed === undefined ? null : `misses ${missed.id}, which was pruned`;
}

/** All events that were ever written for a reader, in order. */
export function writtenIn(
  world: World,
  { workspace, types }: Pick<Reader, "workspace" | "types">,
): readonly WrittenEvent[] {
  const { id: workspaceId } = world.workspaceOf(workspace);
  const { records } = world.server.model.at(workspaceId);
  const written = new Map<string, WrittenEvent>();
  for (const { record, write } of writtenRecords(world.server.log, workspaceId)) {
    const { kind, id } = record;
    if (kind !== "auditEntry" || written.has(id)) continue;
    const entry = record.body as unknown as AuditEntry;
    if (types?.includes(entry.type as AuditType) === false) continue;
    const lane = entry.keyId ?? resourceOf(entry);
    written.set(id, { id, tick: write.tick, lane, isThere: records.has(`${kind} ${id}`) });
  }
  return [...written.values()];
}
