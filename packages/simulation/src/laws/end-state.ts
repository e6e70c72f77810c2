import {
  COUNTED_CODES,
  type RefusedVerdict,
  type StatisticsBatch,
  type StoredRecordState,
  type Want,
} from "@latchkey/core";
import { type Call, returnedBy } from "../history.js";
import type { World } from "../world/world.js";

/** The answers to the questions that are asked after the last step. */
function atTheEnd(world: World, action: string): readonly Call[] {
  return world.calls.filter(
    (call) =>
      call.action === action && call.outcome.kind === "returned" && call.startTick > world.restTick,
  );
}

/** Law: lists contain the keys that were written and not deleted, ordered by id, and totals are right. */
export function listsAreWhole(world: World): string | null {
  for (const call of atTheEnd(world, "listKeys")) {
    const { id, apiId } = world.workspaceOf(call.workspace);
    if (world.hasDamaged) continue;
    const { keys = [], total } = returnedBy<{ keys: { id: string }[]; total: number }>(call);
    const expected = [...(world.server.model.at(id).lists.get(`keys:${apiId} `) ?? [])].sort();
    const ids = keys.map((key) => key.id);
    if (ids.join() !== expected.join()) return `#${call.index} lists ${ids}, there are ${expected}`;
    if (total !== expected.length) return `#${call.index} says ${total}, there are ${ids.length}`;
  }
  return null;
}

/** Law: the audit log of a key has every entry about it, the latest first. */
export function logsAreWhole(world: World): string | null {
  for (const call of atTheEnd(world, "readLog")) {
    const { id } = world.workspaceOf(call.workspace);
    const model = world.server.model.at(id);
    const expected = [...model.records.values()]
      .filter(({ record }) => record.kind === "auditEntry")
      .filter(({ record }) => (record.body as { keyId?: string }).keyId === call.key?.keyId)
      .map(({ record }) => record.id)
      .sort();
    const { events = [] } = returnedBy<{ events: { id: string }[] }>(call);
    const ids = events.map((event) => event.id).reverse();
    if (ids.join() !== expected.join()) return `#${call.index} tells ${ids}, not ${expected}`;
  }
  return null;
}

/** Law: the store holds what was written to it, and nothing that was deleted. */
export async function theStoreIsAsTheModel(world: World): Promise<string | null> {
  for (const [workspaceId, model] of world.server.model.workspaces) {
    const wants: Want[] = world.keys.map(({ keyId }) => ({ kind: "key", id: keyId }));
    const { identityIds = [] } = world.workspaces.find(({ id }) => id === workspaceId) ?? {};
    for (const id of identityIds) wants.push({ kind: "identity", id });
    const { revision, found } = await world.server.store.read(workspaceId, wants);
    if (revision !== model.revision) return `revision ${revision}, not ${model.revision}`;
    for (const [place, want] of wants.entries()) {
      const { kind, id } = want as { readonly kind: string; readonly id: string };
      const [is, expected] = [stateOf(found[place] ?? null), model.get(kind, id)];
      const { remaining = null, refilledAt = 0, lastRefillAt = null } = expected?.counter ?? {};
      const usage = expected?.counter ? { remaining, refilledAt, lastRefillAt } : null;
      const should = expected ? JSON.stringify([expected.record.version, usage]) : "nothing";
      if (is !== should) return `${kind} ${id}: the store has ${is}, and should have ${should}`;
    }
  }
  return null;
}

function stateOf(state: StoredRecordState | null): string {
  if (state === null) return "nothing";
  const { holds: _, ...usage } = state.usage ?? {};
  return JSON.stringify([state.record.version, state.usage === null ? null : usage]);
}

const HOUR_MS = 3_600_000;

/**
 * Law: statistics count each verdict once, in its hour, or in a later one if the store was unavailable when they were due. If a process or
 * the network failed, verdicts may be missing.
 */
export function statisticsFit(world: World): string | null {
  const told = new Map<string, number>();
  const { network, steps } = world.plan;
  const has = (...actions: readonly string[]) =>
    steps.some(({ action }) => actions.includes(action));
  const isAtHand = network === "calm" && !has("stopStore", "fillStore", "failOver", "moveStore");
  for (const { method, args, process } of world.server.log) {
    if (method !== "addStatistics" || process === -1) continue;
    for (const { subject, code, hourAt, count } of (args[1] as StatisticsBatch).counts) {
      if (subject.kind !== "key" || !COUNTED_CODES.some((counted) => counted === code)) continue;
      const name = `${process} ${subject.id} ${code}`;
      told.set(name, (told.get(name) ?? 0) + count);
      const [isOfKey, isOfHour] = [ofKey(process, subject.id), inHour(hourAt, isAtHand)];
      const most = world.calls.filter(
        (call) => isOfKey(call) && isOfHour(call) && mayHaveCode(call, code),
      ).length;
      if (count > most)
        return `${count} times ${code} told of ${subject.id} at ${hourAt}, ${most} were`;
    }
  }
  const isWhole =
    network !== "rough" && !world.hasKilled && !has("failOver", "moveStore", "guarded");
  for (const name of told.keys()) {
    const [process, id, code] = name.split(" ") as [string, string, string];
    const isOfKey = ofKey(Number(process), id);
    const most = world.calls.filter((call) => isOfKey(call) && mayHaveCode(call, code));
    if ((told.get(name) ?? 0) > most.length)
      return `${told.get(name)} verdicts told of ${name}, ${most.length} were`;
  }
  if (!isWhole) return null;
  for (const call of world.calls)
    for (const code of tellsKey(call) ? (codesOf(call) ?? []) : []) {
      const name = `${call.process} ${call.key?.keyId} ${code}`;
      const all = world.calls.filter(
        (other) =>
          codesOf(other)?.includes(code) === true &&
          // The repeat of a request counts no shadow again.
          (code !== "SHADOW_LIMITED" || other.args.requestId === undefined) &&
          other.key === call.key &&
          other.process === call.process &&
          tellsKey(other),
      ).length;
      if ((told.get(name) ?? 0) < all)
        return `${told.get(name) ?? 0} verdicts told of ${name}, ${all} were`;
    }
  return null;
}

const ofKey =
  (process: number, keyId: string) =>
  (call: Call): boolean =>
    call.process === process &&
    call.key?.keyId === keyId &&
    (isVerdict(call) || call.action === "guarded");

const inHour =
  (hourAt: number, isAtHand: boolean) =>
  (call: Call): boolean =>
    call.leastNow < hourAt + HOUR_MS && (call.endNow >= hourAt || !isAtHand);

function isVerdict({ action }: Call): boolean {
  return action === "verify" || action === "reserve";
}

/** Whether a verdict names a key: verdicts about unknown secrets are not counted. */
function tellsKey(call: Call): boolean {
  return isVerdict(call) && returnedBy<{ readonly keyId?: string }>(call).keyId !== undefined;
}

/** The codes that a verdict is counted as; null if the call returned none, or is neither a verification nor a reservation. */
function codesOf(call: Call): readonly string[] | null {
  if (!isVerdict(call) || call.outcome.kind !== "returned") return null;
  const { code, ratelimits = [] } = call.outcome.value as RefusedVerdict;
  const isShadowed = ratelimits.some(({ exceeded, shadow }) => exceeded && shadow === true);
  return isShadowed ? [code, "SHADOW_LIMITED"] : [code];
}

function mayHaveCode(call: Call, code: string): boolean {
  return codesOf(call)?.includes(code) ?? true;
}
