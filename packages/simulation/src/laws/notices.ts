import { type Call, hasReturned } from "../history.js";
import type { World } from "../world/world.js";
import { type AuditEntry, writtenRecords } from "./stored-records.js";

/** A write of a key, or an event about its expiry. */
interface Written {
  readonly keyId: string;
  /** Absent: the key never expires. */
  readonly expires?: number;
  readonly isEvent: boolean;
  /** Whether the store has lost it. */
  readonly isLost: boolean;
}

/** What was ever written in a workspace about keys and their expiry, in order. */
function writtenIn(world: World, workspaceId: string): readonly Written[] {
  const lost = new Set(world.losses.flatMap(({ writes }) => writes));
  const events = new Set<string>();
  const written: Written[] = [];
  for (const { record, write } of writtenRecords(world.server.log, workspaceId)) {
    const { kind, id, body } = record;
    const isLost = lost.has(write);
    if (kind === "key") written.push({ ...expiryIn(body), keyId: id, isEvent: false, isLost });
    if (kind !== "auditEntry") continue;
    const { type, keyId = "", after } = body as unknown as AuditEntry;
    // An erasure writes events once more.
    if (type !== "key.hasExpired" || events.has(id)) continue;
    if (!isLost) events.add(id);
    written.push({ ...expiryIn(after), keyId, isEvent: true, isLost });
  }
  return written;
}

/** The `expires` of a key, or of the changes in an event; an empty object: none. */
function expiryIn(fields: unknown): Pick<Written, "expires"> {
  const { expires } = Object(fields) as Pick<Written, "expires">;
  return expires === undefined ? {} : { expires };
}

/** Law: each expiry is noticed once, and none is missed by a process that looks for them at the end. */
export function expiriesAreNoticed(world: World): string | null {
  for (const [place, { id }] of world.workspaces.entries()) {
    const last = world.calls.findLast(isLastIn(world, place));
    if (last === undefined) continue;
    const written = writtenIn(world, id);
    const wrong = noticedTwice(world, written) ?? notNoticed(world, id, last, written);
    if (wrong !== null) return wrong;
  }
  return null;
}

const isLastIn =
  ({ restTick }: World, place: number) =>
  (call: Call): boolean =>
    call.action === "notice" &&
    call.workspace === place &&
    call.startTick > restTick &&
    hasReturned(call);

/** An expiry is noticed again only if the key got it again. */
function noticedTwice({ losses }: World, written: readonly Written[]): string | null {
  if (losses.length > 0) return null;
  for (const { keyId, expires } of written.filter(({ isEvent }) => isEvent)) {
    const own = written.filter((one) => one.keyId === keyId);
    const times = own.filter((one) => one.isEvent && one.expires === expires).length;
    const values = own.filter(({ isEvent }) => !isEvent).map((one) => one.expires);
    const sets = values.filter((value, at) => value === expires && values[at - 1] !== expires);
    if (times > sets.length)
      return `the expiry of ${keyId} at ${expires} is noticed ${times} times`;
  }
  return null;
}

function notNoticed(
  world: World,
  workspaceId: string,
  { leastNow }: Call,
  written: readonly Written[],
): string | null {
  if (world.hasDamaged) return null;
  const model = world.server.model.at(workspaceId);
  for (const { record } of model.records.values()) {
    if (record.kind !== "key") continue;
    const { expires, apiId } = record.body as { readonly expires?: number; readonly apiId: string };
    if (expires === undefined || expires > leastNow || !model.get("api", apiId)) continue;
    const isNoticed = written.some(
      (one) => one.isEvent && !one.isLost && one.keyId === record.id && one.expires === expires,
    );
    if (!isNoticed) return `${record.id} has expired at ${expires}, and no event says so`;
  }
  return null;
}
