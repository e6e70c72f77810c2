import type { EpochMs, SpanMs } from "../time.js";
import { defineRecord, unlessEmpty } from "./record-type.js";

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
