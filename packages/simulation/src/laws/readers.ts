import type { AuditType, Change } from "@latchkey/core";
import type { Reader } from "../plan/reader-actions.js";
import type { World } from "../world/world.js";

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
interface Written {
  readonly id: string;
  /** When it was first written. */
  readonly tick: number;
  readonly isThere: boolean;
}

/** `mayRevive`: whether the log may have events again that were pruned, because the store lost the pruning. */
function faultOf(
  { events, since }: Reader,
  written: readonly Written[],
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
function writtenIn(world: World, { workspace, types }: Reader): readonly Written[] {
  const { id: workspaceId } = world.workspaceOf(workspace);
  const { records } = world.server.model.at(workspaceId);
  const written = new Map<string, Written>();
  for (const { method, args, tick } of world.server.log)
    if (method === "commit" && args[0] === workspaceId)
      for (const { record } of (args[1] as Change).puts) {
        const { kind, id, body } = record;
        const isWanted = types?.includes((body as { type: AuditType }).type) !== false;
        if (kind === "auditEntry" && isWanted && !written.has(id))
          written.set(id, { id, tick, isThere: records.has(`${kind} ${id}`) });
      }
  return [...written.values()];
}
