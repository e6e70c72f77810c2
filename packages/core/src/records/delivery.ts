import type { EpochMs } from "../time.js";
import { defineRecord, type VersionedHead } from "./record-type.js";

/**
 * An event that an endpoint did not take when it was first sent, or that waits behind one. It names the event and does not repeat it: what is
 * erased in the audit log is erased here.
 */
export interface Delivery extends VersionedHead {
  readonly endpointId: string;
  readonly eventId: string;
  /** Of the event in the audit log: events are sent in its order. */
  readonly number: number;
  /** What the event is about: of those about the same each waits for the earlier ones. */
  readonly lane: string;
  /** `dead`: given up. `asked`: it was, and somebody wants it sent again, which the sender has not noticed yet. */
  readonly state: "pending" | "dead" | "asked";
  /** How often it was sent. */
  readonly tries: number;
  /** Since when it waits. */
  readonly since: EpochMs;
  /** When it is sent next; of one that was given up, when that was. */
  readonly at: EpochMs;
  /** Why it was not taken the last time, in a word or as an HTTP status; null before that. */
  readonly failure: string | null;
}

const STATES = ["pending", "dead", "asked"] as const;

/** The id of a delivery: one for each endpoint and event, in the order in which the events were made. */
export function deliveryId(endpointId: string, eventId: string): string {
  return `dlv_${eventId.replace(/^[a-z]+_/, "")}${endpointId}`;
}

/** The small list of deliveries in one state: of an endpoint where they are pending, else of all. */
export function deliveriesIn(state: Delivery["state"], endpointId: string): string {
  return state === "pending" ? `${state}:${endpointId}` : state;
}

/** Deliveries: found by endpoint, or among those that were given up. */
export const deliveryType = defineRecord<Delivery>({
  kind: "delivery",
  write: ({ id: _, workspaceId: __, version: ___, ...fields }) => fields,
  read: (body, { id, workspaceId, version }) => ({
    id,
    workspaceId,
    endpointId: body.id("endpointId"),
    eventId: body.id("eventId"),
    number: body.positive("number"),
    lane: body.text("lane"),
    state: body.word("state", STATES),
    tries: body.whole("tries"),
    since: body.whole("since"),
    at: body.whole("at"),
    failure: body.textOrNull("failure"),
    version,
  }),
  smallLists: ({ state, endpointId }) => [deliveriesIn(state, endpointId)],
});
