import type { Change } from "@latchkey/core";
import { hasOtherClocks } from "../plan/plan.js";
import type { Receiver } from "../webhooks/receivers.js";
import { RECEIVERS } from "../webhooks/sending.js";
import type { World } from "../world/world.js";
import { type WrittenEvent, writtenIn } from "./readers.js";

/** An event that must reach a receiver, and when that happened first. Infinite: never. */
interface Due extends WrittenEvent {
  readonly host: string;
  readonly arrivedAt: number;
  readonly takenAt: number;
  readonly timesTaken: number;
  /** Whether it is a dead letter at the end, and whether it ever was one. */
  readonly isDead: boolean;
  readonly wasDead: boolean;
}

/** The events that the log still has and that were written since the first sender started. */
function dueTo(world: World, { host, types }: Receiver): readonly Due[] {
  const { arrivals } = world.receivers;
  const [now, ever] = [deadNow(world, host), deadEver(world, host)];
  return writtenIn(world, { workspace: 0, types })
    .filter(({ tick, isThere }) => isThere && tick > world.sendingSince)
    .map((event): Due => {
      const own = arrivals.filter((one) => one.host === host && one.eventId === event.id);
      const taken = own.filter(({ isTaken }) => isTaken);
      return {
        ...event,
        host,
        arrivedAt: own[0]?.tick ?? Number.POSITIVE_INFINITY,
        takenAt: taken[0]?.tick ?? Number.POSITIVE_INFINITY,
        timesTaken: taken.length,
        isDead: now.has(event.id),
        wasDead: ever.has(event.id),
      };
    });
}

interface StoredDelivery {
  readonly endpointId: string;
  readonly eventId: string;
  readonly state: string;
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

function deadNow(world: World, host: string): ReadonlySet<string> {
  const endpointId = endpointAt(world, host);
  const { records } = world.server.model.at(world.workspaceOf(0).id);
  const bodies = [...records.values()]
    .filter(({ record }) => record.kind === "delivery")
    .map(({ record }) => record.body as unknown as StoredDelivery);
  return idsOfDead(bodies, endpointId);
}

function deadEver(world: World, host: string): ReadonlySet<string> {
  const endpointId = endpointAt(world, host);
  const bodies = world.server.log
    .flatMap(({ method, args }) => (method === "commit" ? (args[1] as Change).puts : []))
    .filter(({ record }) => record.kind === "delivery")
    .map(({ record }) => record.body as unknown as StoredDelivery);
  return idsOfDead(bodies, endpointId);
}

function idsOfDead(bodies: readonly StoredDelivery[], of: string): ReadonlySet<string> {
  const dead = bodies.filter(({ endpointId, state }) => endpointId === of && state === "dead");
  return new Set(dead.map(({ eventId }) => eventId));
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
