import type { EpochMs, SpanMs } from "../time.js";
import { defineRecord, unlessEmpty } from "./record-type.js";

/** How far an endpoint has got: each event up to there was taken, or is a delivery. */
export interface EndpointPlace {
  readonly id: string;
  /** A cursor of `readEvents`. */
  readonly cursor: string;
  /** Where its receiver is, `https://billing.example`, for those who look; null: it was written before that was kept. */
  readonly origin: string | null;
}

/** Who sends the events of a workspace, and how far that has got. There is one at most. */
export interface Sender {
  readonly id: typeof SENDER_ID;
  readonly workspaceId: string;
  /** The process that sends; null: none. */
  readonly holder: string | null;
  /** From when on another one may, by the clock of the holder. */
  readonly until: EpochMs;
  /** How long the holder may be silent: one whose clock is wrong is known by that. */
  readonly leaseMs: SpanMs;
  readonly endpoints: readonly EndpointPlace[];
  readonly version: number;
}

/** The id of the one record of its kind. */
export const SENDER_ID = "sender";

/** Senders: found by the id that all of them have. */
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
