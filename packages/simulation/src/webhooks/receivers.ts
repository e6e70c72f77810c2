import type { AuditType } from "@latchkey/core";
import type { Random } from "../random.js";
import type { Network } from "../world/link.js";
import type { Scheduler } from "../world/scheduler.js";
import { receiveWith, type SentRequest } from "./requests.js";

/** How a receiver answers. `full`: it refuses the event for now; `gone`: for good. */
export type Manner = "takes" | "full" | "gone" | "hangs" | "resets";

/** A receiver of webhooks. */
export interface Receiver {
  readonly host: string;
  /** The types of events that are sent to it. */
  readonly types: readonly AuditType[];
}

/** An event that reached a receiver. */
export interface Arrival {
  readonly host: string;
  readonly eventId: string;
  readonly tick: number;
  /** The true time. */
  readonly at: number;
  readonly isTaken: boolean;
}

/** Adds a line to the story. */
type Tell = (line: () => string) => void;

/** The receivers of a world, and the network in front of them. */
export class Receivers {
  readonly arrivals: Arrival[] = [];
  readonly manners = new Map<string, Manner>();
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #network: () => Network;
  readonly #tell: Tell;

  constructor(scheduler: Scheduler, random: Random, network: () => Network, tell: Tell) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#network = network;
    this.#tell = tell;
    receiveWith((request) => this.#receive(request));
  }

  #receive({ host, headers, answer, reset }: SentRequest): void {
    const isRough = this.#network() === "rough";
    // In a rough network, some requests arrive after their sender's timeout.
    const longMs = isRough ? 1_500 : 400;
    const delay = () => this.#random.below(this.#random.chance(isRough ? 10 : 3) ? longMs : 5);
    const [thereMs, backMs] = [delay(), delay()];
    const isRequestLost = isRough && this.#random.chance(5);
    const isReplyLost = isRough && this.#random.chance(5);
    const order = this.#random.next();
    if (isRequestLost) return;
    this.#scheduler.after(thereMs, order, () => {
      const manner = this.manners.get(host) ?? "takes";
      const isTaken = manner === "takes";
      const eventId = headers["webhook-id"] ?? "";
      const tick = this.#scheduler.nextTick();
      this.arrivals.push({ host, eventId, tick, at: this.#scheduler.now, isTaken });
      this.#tell(() => `${host} ${isTaken ? "takes" : "does not take"} ${eventId}`);
      if (isReplyLost || manner === "hangs") return;
      this.#scheduler.after(backMs, order, () => {
        if (manner === "resets") reset();
        else answer(isTaken ? 204 : manner === "gone" ? 410 : 503);
      });
    });
  }
}
