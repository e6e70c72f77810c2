import { hasOtherClocks } from "../plan/plan.js";
import type { Receiver } from "../webhooks/receivers.js";
import { RECEIVERS } from "../webhooks/sending.js";
import type { World } from "../world/world.js";
import { type WrittenEvent, writtenIn } from "./readers.js";
import { writtenRecords } from "./stored-records.js";

/** An event that must reach a receiver, and when that happened first. Infinite: never. */
interface Due extends WrittenEvent {
  readonly host: string;
  readonly arrivedAt: number;
  readonly takenAt: number;
  readonly timesTaken: number;
  /** Whether it is a dead letter at the end, and whether it ever was one. */
  readonly isDead: boolean;
  readonly wasDead: boolean;
  /** Whether it was sent after it had become a dead letter, although nobody asked for that. */
  readonly isUnasked: boolean;
}

/** The events that the log still has and that were written since the first sender started. */
function dueTo(world: World, { host, types }: Receiver): readonly Due[] {
  const { arrivals } = world.receivers;
  const endpointId = endpointAt(world, host);
  const deliveries = storedFor(world, endpointId);
  const { records } = world.server.model.at(world.workspaceOf(0).id);
  return writtenIn(world, { workspace: 0, types })
    .filter(({ tick, isThere }) => isThere && tick > world.sendingSince)
    .map((event): Due => {
      const own = arrivals.filter((one) => one.host === host && one.eventId === event.id);
      const taken = own.filter(({ isTaken }) => isTaken);
      const stored = deliveries.get(event.id) ?? [];
      const dead = stored.find(({ state }) => state === "dead");
      const isAsked = stored.some(({ state }) => state === "asked");
      const now = records.get(`delivery ${stored[0]?.id}`)?.record.body;
      return {
        ...event,
        host,
        arrivedAt: own[0]?.tick ?? Number.POSITIVE_INFINITY,
        takenAt: taken[0]?.tick ?? Number.POSITIVE_INFINITY,
        timesTaken: taken.length,
        isDead: (now as StoredDelivery | undefined)?.state === "dead",
        wasDead: dead !== undefined,
        isUnasked:
          !isAsked && dead !== undefined && own.some(({ at }) => at > dead.at + ON_THE_WAY_MS),
      };
    });
}

/** How long a request may be on its way, or be sent by a process that does not know yet that another one sends. */
const ON_THE_WAY_MS = 5_000;

/** A write of the state of a delivery. */
interface StoredDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly state: string;
  /** When it was written. */
  readonly at: number;
}

/** Id of the endpoint at a host, in the stored list of places. */
function endpointAt(world: World, host: string): string {
  const { id } = world.workspaceOf(0);
  for (const { record } of world.server.model.at(id).records.values())
    if (record.kind === "sender") {
      const { endpoints } = record.body as { endpoints: { id: string; origin: string }[] };
      return endpoints.find(({ origin }) => origin === `https://${host}`)?.id ?? "";
    }
  return "";
}

/** All states that deliveries to an endpoint ever had, in the order of writing, by the ids of their events. */
function storedFor(
  world: World,
  endpointId: string,
): ReadonlyMap<string, readonly StoredDelivery[]> {
  const byEvent = new Map<string, StoredDelivery[]>();
  const { id: workspaceId } = world.workspaceOf(0);
  for (const { record, write } of writtenRecords(world.server.log, workspaceId)) {
    const { kind, id, body } = record;
    const stored = { ...(body as unknown as StoredDelivery), id, at: write.at };
    if (kind !== "delivery" || stored.endpointId !== endpointId) continue;
    byEvent.set(stored.eventId, [...(byEvent.get(stored.eventId) ?? []), stored]);
  }
  return byEvent;
}

/** Whether all webhooks were taken or given up. */
export function areAllSent(world: World): boolean {
  return RECEIVERS.every((receiver) =>
    dueTo(world, receiver).every(({ takenAt, isDead }) => isDead || Number.isFinite(takenAt)),
  );
}

/** Law: each event reaches each receiver at least once and in order, or becomes a dead letter; only once if nothing fails. */
export function webhooksArrive(world: World): string | null {
  if (world.plan.sends !== true) return null;
  const isOnce = mustBeOnce(world);
  for (const receiver of RECEIVERS) {
    const due = dueTo(world, receiver);
    for (const [place, { id, host, lane, isDead, wasDead, ...one }] of due.entries()) {
      if (!isDead && one.takenAt === Number.POSITIVE_INFINITY) return `${host} does not get ${id}`;
      if (one.isUnasked && world.losses.length === 0) return `${host} gets the dead letter ${id}`;
      if (isOnce && one.timesTaken !== 1) return `${host} gets ${id} ${one.timesTaken} times`;
      const before = due
        .slice(0, place)
        .find((other) => other.lane === lane && !other.wasDead && other.takenAt > one.arrivedAt);
      if (before !== undefined && !wasDead) return `${host} gets ${id} before ${before.id}`;
    }
  }
  return null;
}

/** Actions after which an event may be sent again. */
const TROUBLES: ReadonlySet<string> = new Set([
  ...["kill", "webhooks", "stopStore", "fillStore", "failOver", "moveStore", "setClock"],
]);

/** Whether nothing in this schedule can keep the answer of a receiver, or the writing of it, from a sender. */
function mustBeOnce({ plan }: World): boolean {
  const isQuiet = plan.steps.every(({ action }) => !TROUBLES.has(action));
  return isQuiet && plan.network !== "rough" && !hasOtherClocks(plan);
}
