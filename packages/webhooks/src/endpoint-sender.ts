import {
  type AuditEvent,
  type Deliveries,
  type Delivery,
  type DeliveryState,
  type EpochMs,
  type Latchkey,
  LatchkeyError,
  type SpanMs,
} from "@latchkey/core";
import { Alarm } from "./alarm.js";
import { type Item, Lanes, type LogPart } from "./lanes.js";
import type { Lease } from "./lease.js";
import { messageOf } from "./message.js";
import type { Resolve } from "./network/lookup.js";
import { type PostOutcome, post } from "./network/post.js";
import type { Endpoint, Settings } from "./options.js";
import { LONGEST_PAUSE_MS, nextTryAt } from "./retry.js";

/** Concurrent requests to one endpoint. */
const MOST_AT_ONCE = 10;

/** Maximum events waiting for one endpoint. Further ones stay in the log, which is read on when there is room. */
export const MOST_WAITING = 10_000;

/** Events of the log in one read, and maximum number of parts of the log that are open. */
const [PART_SIZE, MOST_PARTS] = [100, 4];

type DeliveryPage = Awaited<ReturnType<Deliveries["listDeliveries"]>>;

/** What the senders of all endpoints share. */
export interface SendingContext {
  readonly deliveries: Deliveries;
  readonly settings: Settings;
  /** Resolves names. Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** Returns a random number from 0 to 1. */
  readonly chance: () => number;
  /** How often to look for new events and at the clock, in ms of the machine's time. */
  readonly lookEveryMs: SpanMs;
  readonly notice: Latchkey["notice"];
}

/**
 * Sends the events of the log to one endpoint while it holds the lease. Everything that it knows is in the store too, or follows from it:
 * if anything but the receiver fails, its state is dropped, and the next sender reads it again.
 */
export class EndpointSender {
  readonly #endpoint: Endpoint;
  readonly #lease: Lease;
  readonly #context: SendingContext;
  readonly #alarm = new Alarm();
  readonly #lanes = new Lanes();
  readonly #attempts = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** Where reading continues; null: at the beginning. */
  #cursor: string | null;
  /** Parts of the log that were read but not passed yet, in order. */
  #parts: LogPart[] = [];
  /** The new position of the endpoint, if the store does not have it yet. */
  #place: string | null = null;
  #hasMore = true;
  /** Whether the log may have grown since the last read started, and whether there may be dead letters to send again. */
  readonly #news = { inLog: true, asked: true };
  /** Where reading the dead letters to send again continues; null: at the beginning. */
  #askedAfter: string | null = null;
  #failure: { readonly error: unknown } | null = null;
  #isHalted = false;
  /** Whether to record at the end what was sent. */
  #isRecording = false;
  /** Whether an event was given up since the last one was delivered. */
  #isGivingUp = false;

  /** `cursor`: the position of the endpoint. */
  constructor(endpoint: Endpoint, cursor: string, lease: Lease, context: SendingContext) {
    this.#endpoint = endpoint;
    this.#cursor = cursor;
    this.#lease = lease;
    this.#context = context;
  }

  /** Sends until it is stopped. Rejects if anything but the receiver fails. When it settles, nothing is in progress. */
  async run(): Promise<void> {
    try {
      for await (const delivery of this.#pending()) this.#lanes.add(itemOf(delivery));
      this.#lanes.beginTime(this.#context.deliveries.now());
      while (!this.#isHalted) {
        await this.#look();
        await this.#store(this.#lanes.blocked());
        await this.#storePlace();
        if (!this.#lease.isHeld()) await this.#lease.renew();
        await this.#alarm.wait(this.#begin());
        this.#assertSound();
      }
      await Promise.all(this.#attempts);
      this.#assertSound();
      if (!this.#isRecording) return;
      await this.#store(this.#begun());
      await this.#storePlace();
    } finally {
      this.abort();
      await Promise.all(this.#attempts);
    }
  }

  /**
   * Looks for new work.
   *
   * @param where - `asked`: among the dead letters to send again.
   */
  wake(where: "inLog" | "asked"): void {
    this.#news[where] = true;
    this.#alarm.ring();
  }

  /** Starts nothing new; requests in progress may end. What was sent is then recorded. */
  halt(): void {
    this.#isRecording = true;
    this.#end();
  }

  /** Aborts requests in progress: they are sent again later. Without {@link halt} before, nothing is recorded: the store may be wrong. */
  abort(): void {
    this.#end();
    this.#abort.abort();
  }

  #end(): void {
    this.#isHalted = true;
    this.#alarm.ring();
  }

  #assertSound(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  async *#pending(): AsyncGenerator<Delivery, void, undefined> {
    let after: string | null = null;
    do {
      const page: DeliveryPage = await this.#listDeliveries("pending", after);
      if (page.damaged > 0)
        this.#report(`${page.damaged} events cannot be sent: their stored data is damaged`);
      yield* page.deliveries;
      after = page.next;
    } while (after !== null);
  }

  #listDeliveries(state: "pending" | "asked", after: string | null): Promise<DeliveryPage> {
    return this.#context.deliveries.listDeliveries(state, this.#endpoint.id, after);
  }

  /** Reads new events of the log, and dead letters to send again. */
  async #look(): Promise<void> {
    if (this.#news.inLog) this.#hasMore = true;
    this.#news.inLog = false;
    if (this.#news.asked) await this.#takeAsked();
    if (this.#hasMore && this.#hasRoom()) await this.#readLog();
  }

  /** Takes up to a page of dead letters to send again: thousands must not keep other events waiting. */
  async #takeAsked(): Promise<void> {
    this.#news.asked = false;
    const { deliveries, next } = await this.#listDeliveries("asked", this.#askedAfter);
    const waiting = this.#waiting(this.#context.deliveries.now());
    const again = deliveries
      .filter(({ eventId }) => !this.#lanes.has(eventId))
      .map((delivery) => ({ ...delivery, ...waiting }));
    if (again.length > 0) await this.#lease.write({ puts: again });
    for (const each of again) this.#lanes.add(itemOf(each));
    this.#askedAfter = next;
    if (next !== null) this.#news.asked = true;
  }

  /** Whether more of the log may be read. A few events in each part must not keep later ones waiting: a part that is not full takes more. */
  #hasRoom(): boolean {
    const last = this.#parts.at(MOST_PARTS - 1);
    return this.#lanes.size < MOST_WAITING && (last === undefined || last.size < PART_SIZE);
  }

  async #readLog(): Promise<void> {
    const page = await this.#readPage();
    this.#hasMore = page.cursor !== this.#cursor;
    if (!this.#hasMore) return;
    const ids = page.found.map(({ event }) => event.id);
    // A previous holder of the lease may have read these, and given some of them up. A dead letter is sent again only on request.
    const stored = await this.#findStored(ids);
    // Not before: what was awaited may have closed parts.
    const part = this.#parts.at(MOST_PARTS - 1) ?? { cursor: "", size: 0, open: 0 };
    if (!this.#parts.includes(part)) this.#parts.push(part);
    part.cursor = page.cursor;
    for (const { event, number } of page.found) {
      if (this.#lanes.has(event.id) || stored.has(event.id)) continue;
      const lane = event.keyId ?? event.resourceId;
      this.#lanes.add({ eventId: event.id, number, lane, delivery: null, part });
      part.open += 1;
      part.size += 1;
    }
    this.#cursor = page.cursor;
    this.#passParts();
  }

  async #findStored(eventIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (eventIds.length === 0) return new Set();
    return this.#context.deliveries.findStored(this.#endpoint.id, eventIds);
  }

  async #readPage() {
    const { types } = this.#endpoint;
    const read = (after: string | null) =>
      this.#context.deliveries.readLog({
        ...(after !== null && { after }),
        limit: PART_SIZE,
        types,
      });
    try {
      return await read(this.#cursor);
    } catch (error) {
      const isGap = error instanceof LatchkeyError && GAPS.has(error.reason ?? "");
      if (!isGap || this.#cursor === null) throw error;
      if (error.reason === "unknown-position") await this.#assertStored(this.#cursor, error);
      this.#report(
        `events were not sent; sending resumes from the earliest: ${error.message}`,
        error,
      );
      return read(null);
    }
  }

  /**
   * Called if the log does not have the event at a position. After a failover that lost the latest changes, the position that the store has
   * may still be good: all events up to there were sent, and need not be sent again.
   *
   * @throws Error if the store has another position, to begin anew from that one.
   */
  async #assertStored(cursor: string, cause: LatchkeyError): Promise<void> {
    const stored = await this.#lease.readPlace(this.#endpoint.id);
    if (stored?.cursor === cursor) return;
    const what =
      "the store lost its latest changes; sending continues from the position that it has";
    throw new Error(`webhooks to ${this.#endpoint.url.origin}: ${what}`, { cause });
  }

  /** The events not sent yet of the parts of the log of which others were sent: those would otherwise be sent again. */
  #begun(): readonly Item[] {
    const last = this.#parts.findLastIndex(({ size, open }) => open < size);
    const parts = new Set<LogPart | null>(this.#parts.slice(0, last + 1));
    return this.#lanes.fresh().filter(({ part }) => parts.has(part));
  }

  /** Stores events, so that they no longer hold up the rest of the log. */
  async #store(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return;
    const now = this.#context.deliveries.now();
    const puts = items.map((item) => this.#stateOf(item, now));
    await this.#lease.write({ puts });
    items.forEach((item, index) => {
      this.#lanes.store(item, puts[index] as DeliveryState);
      this.#close(item);
    });
  }

  async #storePlace(): Promise<void> {
    const cursor = this.#place;
    if (cursor === null) return;
    await this.#lease.writePlace({ id: this.#endpoint.id, cursor });
    if (this.#place === cursor) this.#place = null;
  }

  /**
   * Starts to send the events that are due.
   *
   * @returns Ms until the next one is due, or until it is time to look again.
   */
  #begin(): SpanMs {
    if (this.#isHalted || !this.#lease.isHeld()) return 0;
    const now = this.#context.deliveries.now();
    let wait = this.#context.lookEveryMs;
    const due: Item[] = [];
    for (const item of this.#lanes.heads()) {
      if (this.#lanes.sending + due.length >= MOST_AT_ONCE) break;
      const pause = (item.delivery?.at ?? now) - now;
      // A longer pause can only come from a wrong clock.
      if (pause <= 0 || pause > LONGEST_WAIT_MS) due.push(item);
      else wait = Math.min(wait, pause);
    }
    for (const item of due) {
      this.#lanes.begin(item);
      const attempt = this.#attempt(item).catch((error: unknown) => {
        this.#failure ??= { error };
      });
      this.#attempts.add(attempt);
      void attempt.then(() => {
        this.#attempts.delete(attempt);
        this.#lanes.end(item);
        this.#alarm.ring();
      });
    }
    return (this.#hasMore && this.#hasRoom()) || this.#news.asked ? 0 : wait;
  }

  async #attempt(item: Item): Promise<void> {
    const { deliveries } = this.#context;
    const event = await deliveries.readEvent(item.eventId);
    const sentAt = deliveries.now();
    const outcome = event === null ? NO_EVENT : await this.#send(event, sentAt);
    if (outcome.kind === "stopped") return;
    if (outcome.kind === "taken") {
      const { id: endpointId } = this.#endpoint;
      if (item.delivery !== null)
        await this.#lease.write({ taken: [{ endpointId, eventId: item.eventId }] });
      this.#isGivingUp = false;
    } else if (await this.#storeRefusal(item, outcome, sentAt)) return;
    this.#lanes.remove(item);
    this.#close(item);
  }

  #send(event: AuditEvent, now: EpochMs): Promise<PostOutcome> {
    const { url, allow, signers } = this.#endpoint;
    const { settings, resolve } = this.#context;
    const target = { url, allow, timeoutMs: settings.timeoutMs, resolve };
    return post(target, messageOf(event, now, signers), this.#abort.signal);
  }

  /** @returns Whether the event will be sent again. */
  async #storeRefusal(
    item: Item,
    { failure, isFinal, retryAfterMs }: Extract<PostOutcome, { kind: "refused" }>,
    sentAt: EpochMs,
  ): Promise<boolean> {
    const { deliveries, settings, chance } = this.#context;
    const now = deliveries.now();
    const before = this.#stateOf(item, sentAt);
    const tries = before.tries + 1;
    // A wrong clock may have put it in the future.
    const since = Math.min(before.since, sentAt);
    const at = isFinal ? null : nextTryAt({ tries, since, retryAfterMs }, settings, now, chance());
    const state = at === null ? "dead" : "pending";
    const after: DeliveryState = { ...before, state, tries, since, at: at ?? now, failure };
    await this.#lease.write({ puts: [after] });
    if (at !== null) {
      this.#lanes.store(item, after);
      this.#close(item);
      return true;
    }
    if (!this.#isGivingUp)
      this.#report(
        `${item.eventId} was given up after ${tries === 1 ? "one try, which" : `${tries} tries, the last`} failed with ${failure}; it is a dead letter`,
      );
    this.#isGivingUp = true;
    return false;
  }

  #stateOf({ delivery, eventId, number, lane }: Item, now: EpochMs): DeliveryState {
    const { id: endpointId } = this.#endpoint;
    return delivery ?? { endpointId, eventId, number, lane, ...this.#waiting(now) };
  }

  #waiting(now: EpochMs) {
    return { state: "pending", tries: 0, since: now, at: now, failure: null } as const;
  }

  /** Marks an event as no longer needing its part of the log. */
  #close(item: Item): void {
    if (item.part === null) return;
    item.part.open -= 1;
    item.part = null;
    this.#passParts();
  }

  #passParts(): void {
    for (let [part] = this.#parts; part?.open === 0; [part] = this.#parts) {
      this.#place = part.cursor;
      this.#parts.shift();
    }
  }

  /** Names the receiver by its origin, because the rest of its URL may contain a secret. */
  readonly #report = (what: string, cause?: unknown): void => {
    const message = `webhooks to ${this.#endpoint.url.origin}: ${what}`;
    this.#context.deliveries.report(new Error(message, cause === undefined ? {} : { cause }));
  };
}

/** An upper bound of all pauses, even if the clock was wrong when one began. A receiver can ask for a day; our own are at most 12 hours. */
const LONGEST_WAIT_MS = 3 * LONGEST_PAUSE_MS;

const GAPS: ReadonlySet<string> = new Set(["pruned", "unknown-position"]);

/** The outcome for an event that was pruned before it was delivered, or cannot be read. */
const NO_EVENT: PostOutcome = {
  kind: "refused",
  failure: "no-event",
  isFinal: true,
  retryAfterMs: 0,
};

function itemOf(delivery: DeliveryState): Item {
  const { eventId, number, lane } = delivery;
  return { eventId, number, lane, delivery, part: null };
}
