import { randomUUID } from "node:crypto";
import type {
  Deliveries,
  DeliveryChanges,
  EndpointPlace,
  EpochMs,
  Sender,
  SpanMs,
} from "@latchkey/core";

/** Another process holds the lease now. */
export class LeaseLostError extends Error {}

/**
 * The right to send the events of a workspace, held by one process at a time. Writes succeed only while the lease is held. A process that
 * was suspended for a long time and continues may send events that another process sends too, but it writes nothing.
 */
export class Lease {
  readonly #holder = randomUUID();
  readonly #deliveries: Deliveries;
  readonly #leaseMs: SpanMs;
  #until: EpochMs = 0;
  /** The same by the machine's timer, because the clock may be set back. */
  #untilTimer = 0;
  readonly #patienceMs: SpanMs;
  /** When this process first saw the current version of the sender: by the clock, and by the machine's timer. */
  #seen = { version: -1, at: 0, timerAt: 0 };

  /** Whether the store had no sender at the last attempt to take the lease. */
  isUnknown = false;

  /** `patienceMs`: how long a holder may take to notice that its lease is over. A clock that jumped may have ended it early. */
  constructor(deliveries: Deliveries, leaseMs: SpanMs, patienceMs: SpanMs) {
    this.#deliveries = deliveries;
    this.#leaseMs = leaseMs;
    this.#patienceMs = patienceMs;
  }

  /** Whether the lease is held now. If not, `renew` may still get it back. */
  isHeld(): boolean {
    return this.#deliveries.now() < this.#until && performance.now() < this.#untilTimer;
  }

  /**
   * Takes the lease if nobody holds it, if it is over, or if its holder has been silent for the length of a lease, by the clock or by the
   * machine's timer: the holder's clock may have been wrong, and this one may have been set back.
   *
   * @returns The sender; null if another process holds the lease, or the store has no sender.
   */
  async take(): Promise<Sender | null> {
    const sender = await this.#deliveries.readSender();
    this.isUnknown = sender.version === 0;
    if (this.isUnknown) return null;
    const now = this.#deliveries.now();
    const timerAt = performance.now();
    if (this.#seen.version !== sender.version)
      this.#seen = { version: sender.version, at: now, timerAt };
    const isFree = sender.holder === null || sender.holder === this.#holder;
    const silentMs = Math.max(now - this.#seen.at, timerAt - this.#seen.timerAt);
    const isSilent = silentMs >= Math.max(this.#leaseMs, sender.leaseMs);
    const isOver = isSilent || sender.until <= now;
    const isStill = timerAt - this.#seen.timerAt >= this.#patienceMs;
    if (!isFree && !(isOver && isStill)) return null;
    return this.#hold((current) => current.version === sender.version && current);
  }

  /**
   * Renews the lease.
   *
   * @throws LeaseLostError if another process has it.
   */
  async renew(): Promise<void> {
    if ((await this.#hold((sender) => this.#isMine(sender) && sender)) === null)
      throw new LeaseLostError();
  }

  /**
   * Writes the changes atomically.
   *
   * @throws LeaseLostError if another process has it.
   */
  async write(changes: DeliveryChanges): Promise<void> {
    const written = await this.#deliveries.write(
      (sender) => (this.#isMine(sender) ? sender : null),
      changes,
    );
    if (written === null) throw new LeaseLostError();
  }

  /**
   * Writes the position of an endpoint, and renews the lease.
   *
   * @throws LeaseLostError if another process has it.
   */
  async writePlace({ id, cursor }: Pick<EndpointPlace, "id" | "cursor">): Promise<void> {
    const written = await this.#hold(
      (sender) =>
        this.#isMine(sender) && {
          ...sender,
          endpoints: sender.endpoints.map((one) => (one.id === id ? { ...one, cursor } : one)),
        },
    );
    if (written === null) throw new LeaseLostError();
  }

  /**
   * Reads the position of an endpoint; undefined if the store has none.
   *
   * @throws LeaseLostError if another process has it.
   */
  async readPlace(endpointId: string): Promise<EndpointPlace | undefined> {
    const sender = await this.#deliveries.readSender();
    if (!this.#isMine(sender)) throw new LeaseLostError();
    return sender.endpoints.find(({ id }) => id === endpointId);
  }

  /** Releases the lease, if it is still held. */
  async release(): Promise<void> {
    this.#until = 0;
    await this.#deliveries.write((sender) =>
      this.#isMine(sender) ? { ...sender, holder: null } : null,
    );
  }

  #isMine({ holder }: Sender): boolean {
    return holder === this.#holder;
  }

  /** Writes a sender that holds the lease. `change`: returns the sender to write; false to write nothing. */
  async #hold(change: (sender: Sender) => Sender | false): Promise<Sender | null> {
    const until = this.#deliveries.now() + this.#leaseMs;
    const untilTimer = performance.now() + this.#leaseMs;
    const held = { holder: this.#holder, until, leaseMs: this.#leaseMs };
    const written = await this.#deliveries.write((sender) => {
      const changed = change(sender);
      return changed === false ? null : { ...changed, ...held };
    });
    if (written !== null) [this.#until, this.#untilTimer] = [until, untilTimer];
    return written;
  }
}
