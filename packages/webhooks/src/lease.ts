import { randomUUID } from "node:crypto";
import type {
  Deliveries,
  DeliveryChanges,
  EndpointPlace,
  EpochMs,
  Sender,
  SpanMs,
} from "@latchkey/core";

/** Another process sends from now on. */
export class LeaseLostError extends Error {}

/**
 * The right to send the events of a workspace, which one process has at a time. Whatever it writes, it writes if it still has it. One that was
 * stopped for long and goes on may send what another sends too, and writes nothing.
 */
export class Lease {
  readonly #holder = randomUUID();
  readonly #deliveries: Deliveries;
  readonly #leaseMs: SpanMs;
  #until: EpochMs = 0;
  readonly #patienceMs: SpanMs;
  /** Since when the sender has been as it is, as far as is known here: by the clock, and by the machine's timer. */
  #seen = { version: -1, at: 0, timerAt: 0 };

  /** Whether the store knew nothing of a sender when it was last to be taken. */
  isUnknown = false;

  /** @param patienceMs - How long a holder whose time is over may take to notice that: a clock may have jumped. */
  constructor(deliveries: Deliveries, leaseMs: SpanMs, patienceMs: SpanMs) {
    this.#deliveries = deliveries;
    this.#leaseMs = leaseMs;
    this.#patienceMs = patienceMs;
  }

  /** Whether it holds without being renewed. */
  isHeld(): boolean {
    return this.#deliveries.now() < this.#until;
  }

  /**
   * Takes the lease where nobody has it, where its time is over, or where its holder has been silent for so long: the clock of a holder may have
   * been wrong.
   *
   * @returns The sender; null where another has it, or the store knows of none.
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
    const isSilent = now - this.#seen.at >= Math.max(this.#leaseMs, sender.leaseMs);
    const isOver = isSilent || sender.until <= now;
    const isStill = timerAt - this.#seen.timerAt >= this.#patienceMs;
    if (!isFree && !(isOver && isStill)) return null;
    return this.#hold((current) => current.version === sender.version && current);
  }

  /** Holds it for longer. @throws LeaseLostError where another has it. */
  async renew(): Promise<void> {
    if ((await this.#hold((sender) => this.#isMine(sender) && sender)) === null)
      throw new LeaseLostError();
  }

  /** Writes in one step. @throws LeaseLostError where another has it. */
  async write(changes: DeliveryChanges): Promise<void> {
    const written = await this.#deliveries.write(
      (sender) => (this.#isMine(sender) ? sender : null),
      changes,
    );
    if (written === null) throw new LeaseLostError();
  }

  /** Writes how far an endpoint has got, and holds it for longer. @throws LeaseLostError where another has it. */
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

  /** Gives it back, if it is still held. */
  async release(): Promise<void> {
    this.#until = 0;
    await this.#deliveries.write((sender) =>
      this.#isMine(sender) ? { ...sender, holder: null } : null,
    );
  }

  #isMine({ holder }: Sender): boolean {
    return holder === this.#holder;
  }

  /** @param change - What else is written; false: it may not be held. */
  async #hold(change: (sender: Sender) => Sender | false): Promise<Sender | null> {
    const until = this.#deliveries.now() + this.#leaseMs;
    const held = { holder: this.#holder, until, leaseMs: this.#leaseMs };
    const written = await this.#deliveries.write((sender) => {
      const changed = change(sender);
      return changed === false ? null : { ...changed, ...held };
    });
    if (written !== null) this.#until = until;
    return written;
  }
}
