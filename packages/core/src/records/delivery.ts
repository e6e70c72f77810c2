import type { EpochMs, SpanMs } from "../time.js";
import { defineRecord, unlessEmpty, type VersionedHead } from "./record-type.js";

/**
 * An event that an endpoint did not accept when it was first sent, or that waits behind such an event. It refers to the event and does not
 * copy it: what is erased in the audit log is erased here too.
 */
export interface Delivery extends VersionedHead {
  readonly endpointId: string;
  readonly eventId: string;
  /** Number of the event in the audit log: events are sent in this order. */
  readonly number: number;
  /** What the event is about. An event waits for earlier ones about the same thing. */
  readonly lane: string;
  /** `dead`: given up. `asked`: given up, but someone asked to send it again, and the sender has not noticed yet. */
  readonly state: "pending" | "dead" | "asked";
  readonly tries: number;
  /** When it began to wait. */
  readonly since: EpochMs;
  /** When it is sent next; if given up, when that was. */
  readonly at: EpochMs;
  /** Why the last attempt failed, in a word or as an HTTP status; null before the first attempt. */
  readonly failure: string | null;
}

const STATES = ["pending", "dead", "asked"] as const;

/** The id of a delivery: one for each endpoint and event, in the order in which the events were made. */
export function deliveryId(endpointId: string, eventId: string): string {
  return `dlv_${eventId.replace(/^[a-z]+_/, "")}${endpointId}`;
}

/** The small list of deliveries in one state: one list per endpoint for pending ones, otherwise one for all. */
export function deliveriesIn(state: Delivery["state"], endpointId: string): string {
  return state === "pending" ? `${state}:${endpointId}` : state;
}

/** Deliveries: found by endpoint, or among those that were given up. */
export const deliveryType = defineRecord<Delivery>({
  kind: "delivery",
  write: ({ id: _, workspaceId: __, version: ___, ...fields }) => fields,
  read: (body, head) => ({
    ...head,
    endpointId: body.id("endpointId"),
    eventId: body.id("eventId"),
    number: body.positive("number"),
    lane: body.text("lane"),
    state: body.word("state", STATES),
    tries: body.whole("tries"),
    since: body.whole("since"),
    at: body.whole("at"),
    failure: body.textOrNull("failure"),
  }),
  smallLists: ({ state, endpointId }) => [deliveriesIn(state, endpointId)],
});

/** How far an endpoint has got: every event up to there was accepted, or is stored as a delivery. */
export interface EndpointPlace {
  readonly id: string;
  /** A cursor of `readEvents`. */
  readonly cursor: string;
  /** Origin of its receiver, such as `https://billing.example`, for display; null: written before origins were stored. */
  readonly origin: string | null;
}

/** Which process sends the events of a workspace, and how far it has got. A workspace has at most one. */
export interface Sender {
  readonly id: typeof SENDER_ID;
  readonly workspaceId: string;
  /** The process that sends; null: none. */
  readonly holder: string | null;
  /** From when on another process may take over, by the clock of the holder. */
  readonly until: EpochMs;
  /** How long the holder may be silent. This reveals a holder whose clock is wrong. */
  readonly leaseMs: SpanMs;
  readonly endpoints: readonly EndpointPlace[];
  readonly version: number;
}

/** The id of the one record of its kind. */
export const SENDER_ID = "sender";

/** Senders: found by the id that all of them share. */
export const senderType = defineRecord<Sender>({
  kind: "sender",
  write: ({ holder, until, leaseMs, endpoints }) => ({
    holder,
    until,
    leaseMs,
    endpoints: unlessEmpty(
      endpoints.map(({ origin, ...place }) => ({ ...place, ...(origin !== null && { origin }) })),
    ),
  }),
  read: (body, { workspaceId, version }) => ({
    id: SENDER_ID,
    workspaceId,
    holder: body.textOrNull("holder"),
    until: body.whole("until"),
    leaseMs: body.whole("leaseMs"),
    endpoints: body.list("endpoints", (place) => ({
      id: place.id("id"),
      cursor: place.text("cursor"),
      origin: place.textOrNull("origin"),
    })),
    version,
  }),
});
