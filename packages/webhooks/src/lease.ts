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

/** How far the clock may be behind the latest write of a lease for the next one to be counted on from that. */
const COUNTED_MS = 1_000;

/**
 * The right to send the events of a workspace, held by one process at a time. Writes succeed only while the lease is held. A process that
 * was suspended for a long time and continues may send events that another process sends too, but it writes nothing.
 *
 * Writes are made one after the other. Each renews the lease and writes another end of it, so the next one sees if the store has lost it.
 */
export class Lease {
  readonly #holder = randomUUID();
  readonly #deliveries: Deliveries;
  readonly #leaseMs: SpanMs;
  /** End of the lease, as last written. */
  #until: EpochMs = 0;
  /** The same by the machine's timer, because the clock may be set back. */
  #untilTimer = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** Why a write failed: those that wait behind it fail too, because each of them could take as long. */
  #failure: { readonly error: unknown } | null = null;
  readonly #patienceMs: SpanMs;
  /** When this process first saw the current version of the sender: by the clock, and by the machine's timer. */
  #seen = { version: -1, at: 0, timerAt: 0 };

  /** Whether the store had no sender at the last attempt to take the lease. */
  isUnknown = false;
  /** The sender at the last attempt, if another process held the lease. */
  other: Sender | null = null;

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
    this.#failure = null;
    const sender = await this.#deliveries.readSender();
    this.isUnknown = sender.version === 0;
    this.other = null;
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
    if (!isFree && !(isOver && isStill)) {
      this.other = sender;
      return null;
    }
    return this.#hold((current) => current.version === sender.version && current);
  }

  /** Renews the lease. Errors as {@link write}. */
  renew(): Promise<void> {
    return this.#write((sender) => sender);
  }

  /**
   * Writes the changes atomically, and renews the lease.
   *
   * @throws LeaseLostError if another process has it; Error if the store has lost what this lease wrote.
   */
  write(changes: DeliveryChanges): Promise<void> {
    return this.#write((sender) => sender, changes);
  }

  /** Writes the position of an endpoint, and renews the lease. Errors as {@link write}. */
  writePlace({ id, cursor }: Pick<EndpointPlace, "id" | "cursor">): Promise<void> {
    return this.#write((sender) => ({
      ...sender,
      endpoints: sender.endpoints.map((one) => (one.id === id ? { ...one, cursor } : one)),
    }));
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

  async #write(change: (sender: Sender) => Sender, changes?: DeliveryChanges): Promise<void> {
    const written = await this.#hold((sender) => {
      if (!this.#isMine(sender)) return false;
      if (sender.until !== this.#until) throw new Error(LOST_CHANGES);
      return change(sender);
    }, changes);
    if (written === null) throw new LeaseLostError();
  }

  /** Writes a sender that holds the lease. `change`: returns the sender to write; false to write nothing. */
  #hold(
    change: (sender: Sender) => Sender | false,
    changes?: DeliveryChanges,
  ): Promise<Sender | null> {
    const writing = this.#lastWrite.then(() => {
      if (this.#failure !== null) throw this.#failure.error;
      return this.#holdNow(change, changes);
    });
    this.#lastWrite = writing.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return writing;
  }

  async #holdNow(
    change: (sender: Sender) => Sender | false,
    changes?: DeliveryChanges,
  ): Promise<Sender | null> {
    const wanted = this.#deliveries.now() + this.#leaseMs;
    const isCounted = wanted <= this.#until && this.#until - wanted < COUNTED_MS;
    const until = isCounted ? this.#until + 1 : wanted;
    const untilTimer = performance.now() + this.#leaseMs;
    const held = { holder: this.#holder, until, leaseMs: this.#leaseMs };
    const written = await this.#deliveries.write((sender) => {
      const changed = change(sender);
      return changed === false ? null : { ...changed, ...held };
    }, changes);
    if (written !== null) [this.#until, this.#untilTimer] = [until, untilTimer];
    return written;
  }
}

const LOST_CHANGES =
  "webhooks: the store lost its latest changes; sending continues from the positions that it has";
