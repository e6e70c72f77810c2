import type { Sender, SpanMs } from "@latchkey/core";
import { MOST_WAITING, type SendingContext } from "./endpoint-sender.js";

/** Number of intervals for which an endpoint must stand still, twice, before it is reported: five minutes. */
const PATIENCE_LOOKS = 600;

/** Where an endpoint stands. */
interface Place {
  readonly cursor: string;
  /** By the machine's timer: since when, or when it was last found to have nothing to read. */
  since: number;
  /** Whether it had something to read at `since`. */
  isBehind: boolean;
  isReported: boolean;
}

/**
 * Watches the endpoints of a process that waits for its turn. If the process that sends has another list of endpoints, such as one of an
 * earlier version that was left running, nothing is sent to those that it does not have.
 */
export class UnservedEndpoints {
  readonly #context: SendingContext;
  readonly #patienceMs: SpanMs;
  readonly #places = new Map<string, Place>();

  constructor(context: SendingContext) {
    this.#context = context;
    this.#patienceMs = PATIENCE_LOOKS * context.lookEveryMs;
  }

  /** To be called with each sender that is read while another process sends. Reports each endpoint that stands still, once. */
  async look({ endpoints }: Sender): Promise<void> {
    const now = performance.now();
    const due = new Map<string, Place>();
    for (const { id } of this.#context.settings.endpoints) {
      const cursor = endpoints.find((place) => place.id === id)?.cursor ?? "";
      const place = this.#places.get(id);
      if (place?.cursor !== cursor)
        this.#places.set(id, { cursor, since: now, isBehind: false, isReported: false });
      else if (!place.isReported && now - place.since >= this.#patienceMs) due.set(id, place);
    }
    if (due.size > 0) await this.#examine(due, now);
  }

  async #examine(due: ReadonlyMap<string, Place>, now: number): Promise<void> {
    const { deliveries, settings } = this.#context;
    const states = await deliveries.listEndpoints();
    for (const [id, place] of due) {
      const { unread = 0, waiting = 0 } = states.find((state) => state.endpointId === id) ?? {};
      // One that is full waits for room.
      const isBehind = unread > 0 && waiting < MOST_WAITING;
      // An event may have been written only now.
      place.isReported = isBehind && place.isBehind;
      Object.assign(place, { since: now, isBehind });
      const url = settings.endpoints.find((endpoint) => endpoint.id === id)?.url;
      if (place.isReported)
        deliveries.report(
          new Error(
            `webhooks to ${url?.origin}: the process that sends does not take its events (${unread} unread): does it have this endpoint?`,
          ),
        );
    }
  }
}
