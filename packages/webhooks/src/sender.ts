import {
  AUDIT_TYPES,
  type Deliveries,
  type EndpointPlace,
  type Sender as SenderState,
  type SpanMs,
} from "@latchkey/core";
import { Alarm } from "./alarm.js";
import { EndpointSender, type SendingContext } from "./endpoint-sender.js";
import { Lease, LeaseLostError } from "./lease.js";
import { enterPace, pacedMs } from "./pace.js";
import { UnservedEndpoints } from "./unserved.js";

/** How long requests in progress may take when sending ends, in ms of the machine's time. */
const GRACE_MS = 1_000;

/** Pause after the store has failed. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** Number of intervals after which a live holder has noticed that its lease is over: it checks once per interval. */
const PATIENCE_LOOKS = 3;

/** Number of intervals between two checks for expiries: five seconds. */
const NOTICE_EVERY_LOOKS = 10;

/** Number of intervals between two checks of the number of dead letters: a minute. */
const PRUNE_EVERY_LOOKS = 120;

/** Interval between two searches for dead letters that are too old, in ms. */
const PRUNE_OLD_EVERY_MS = 3_600_000;

/** Maximum number of endpoints of earlier settings whose position is kept. */
const MOST_PLACES = 1_000;

type DeliveryPage = Awaited<ReturnType<Deliveries["listDeliveries"]>>;

/** Sends to all endpoints while it has the lease, and otherwise waits for the lease. */
export class Sender {
  readonly #context: SendingContext;
  readonly #alarm = new Alarm();
  #started: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStopping = false;
  /** Whether the latest call was `start` rather than `stop`. */
  #isWanted = false;
  #senders: ReadonlyMap<string, EndpointSender> = new Map();
  #endSending: () => void = () => undefined;
  /** The end of the log when `start` was called, or the position at the start of a log that was found empty since. */
  #beginning: string | undefined;
  /** Side tasks whose last run failed. */
  readonly #failing = new Set<string>();
  /** When dead letters were last read, by latchkey's clock. */
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** Of the dead letters to send again, how many have been reported as damaged. */
  #damaged = 0;

  constructor(context: SendingContext) {
    this.#context = context;
  }

  async start(): Promise<void> {
    this.#isWanted = true;
    // No await if there is nothing to wait for: the position must be read now, so that events after this call are sent.
    if (this.#stopping !== null) await this.#stopping;
    // `stop` may have been called meanwhile.
    if (!this.#isWanted) return;
    this.#started ??= this.#start();
    await this.#started;
  }

  stop(): Promise<void> {
    this.#isWanted = false;
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = null;
    });
    return this.#stopping;
  }

  /** Looks for dead letters of an endpoint to send again, if this process sends. */
  wake(endpointId: string): void {
    this.#senders.get(endpointId)?.wake("asked");
  }

  async #start(): Promise<void> {
    try {
      this.#beginning = await addPlaces(this.#context);
    } catch (error) {
      this.#started = null;
      throw error;
    }
    this.#running = this.#run();
  }

  async #stop(): Promise<void> {
    const started = this.#started;
    if (started === null) return;
    this.#isStopping = true;
    this.#alarm.ring();
    this.#endSending();
    await started.catch(() => undefined);
    await this.#running;
    this.#isStopping = false;
    this.#started = null;
  }

  async #run(): Promise<void> {
    const { deliveries, settings, lookEveryMs } = this.#context;
    const lease = new Lease(deliveries, settings.leaseMs, PATIENCE_LOOKS * lookEveryMs);
    const unserved = new UnservedEndpoints(this.#context);
    const leavePace = enterPace();
    let isFailing = false;
    const isEnding = () => this.#isStopping || deliveries.isClosed();
    while (!isEnding()) {
      let pause = this.#looks(1);
      try {
        const state = await lease.take();
        if (state !== null) await this.#send(lease, state);
        else if (lease.isUnknown) await this.#beginAnew();
        else if (lease.other !== null) await unserved.look(lease.other);
        isFailing = false;
      } catch (error) {
        if (!(error instanceof LeaseLostError || deliveries.isClosed())) {
          if (!isFailing) deliveries.report(error);
          isFailing = true;
          pause = pacedMs(PAUSE_AFTER_FAILURE_MS, this.#context.chance);
        }
      }
      if (!isEnding()) await this.#alarm.wait(pause);
    }
    leavePace();
    if (deliveries.isClosed()) return this.#endUnstopped();
    await lease.release().catch((error: unknown) => deliveries.report(error));
  }

  /** Ends because the latchkey was closed. Otherwise the process would never end. */
  #endUnstopped(): void {
    this.#started = null;
    this.#context.deliveries.report(
      new Error(
        'webhooks: sending ended because the latchkey was closed. Call "stop" before "close"',
      ),
    );
  }

  /** How long a number of looks takes. */
  #looks(count: number): SpanMs {
    const { lookEveryMs, chance } = this.#context;
    return pacedMs(count * lookEveryMs, chance);
  }

  /**
   * Called if the store has no sender: it was restored to a state without one, or the workspace was deleted. Writing to a deleted workspace
   * would create it again, so sending continues only when its log has an event.
   */
  async #beginAnew(): Promise<void> {
    const { found, cursor } = await this.#context.deliveries.readLog({
      limit: 1,
      types: AUDIT_TYPES,
    });
    if (found.length === 0) this.#beginning = cursor;
    else await this.#restorePlaces();
  }

  /** Stores the positions that the store has lost: events that were written before this was noticed must be sent. */
  async #restorePlaces(): Promise<void> {
    await addPlaces(this.#context, this.#beginning);
    this.#context.deliveries.report(
      new Error(
        "webhooks: the store lost the position of an endpoint; sending continues from where this process started",
      ),
    );
  }

  /** Sends until it is stopped, the lease is lost, or anything but a receiver fails. */
  async #send(lease: Lease, state: SenderState): Promise<void> {
    const { settings } = this.#context;
    const senders = new Map<string, EndpointSender>();
    for (const endpoint of settings.endpoints) {
      const place = state.endpoints.find(({ id }) => id === endpoint.id);
      // The store was restored to a state without this endpoint.
      if (place === undefined) return this.#restorePlaces();
      const { id, cursor } = place;
      senders.set(id, new EndpointSender(endpoint, cursor, lease, this.#context));
    }
    const repetitions = [
      new Repetition(
        () => settings.leaseMs / 3,
        () => lease.renew(),
      ),
      new Repetition(() => this.#looks(1), this.#looking(senders, lease)),
      this.#beside("notice", NOTICE_EVERY_LOOKS, (isEnded) => this.#notice(isEnded)),
      this.#beside("prune", PRUNE_EVERY_LOOKS, () => this.#prune()),
    ];
    const endRepetitions = async () => {
      for (const repetition of repetitions) repetition.end();
      await Promise.all(repeated);
    };
    this.#senders = senders;
    const ending = new Promise<void>((resolve) => {
      this.#endSending = resolve;
    });
    if (this.#isStopping) this.#endSending();
    const repeated = repetitions.map((repetition) => repetition.run());
    const runs = [...senders.values()].map((sender) => sender.run());
    const abort = () => {
      for (const sender of senders.values()) sender.abort();
    };
    let grace: NodeJS.Timeout | undefined;
    try {
      // None ends by itself, unless it fails.
      await Promise.race([ending, ...repeated, ...runs]);
      for (const sender of senders.values()) sender.halt();
      grace = setTimeout(abort, GRACE_MS);
      await Promise.all([...runs]);
      await endRepetitions();
    } finally {
      this.#senders = new Map();
      clearTimeout(grace);
      abort();
      await Promise.allSettled([...runs, endRepetitions()]);
    }
  }

  /** Creates the function that checks for new events, once for all endpoints, and wakes the endpoints that may have some. */
  #looking(senders: ReadonlyMap<string, EndpointSender>, lease: Lease): () => Promise<void> {
    const { deliveries } = this.#context;
    let seen: string | null = null;
    return async () => {
      const [end, asked] = await Promise.all([deliveries.endOfLog(), deliveries.askedEndpoints()]);
      if (end !== seen) for (const sender of senders.values()) sender.wake("inLog");
      for (const id of asked.endpointIds) {
        const sender = senders.get(id);
        if (sender === undefined) await this.#giveBack(id, lease);
        else sender.wake("asked");
      }
      if (asked.damaged > this.#damaged)
        deliveries.report(
          new Error(
            `webhooks: ${asked.damaged} events cannot be sent again: their stored data is damaged`,
          ),
        );
      this.#damaged = asked.damaged;
      seen = end;
    };
  }

  /**
   * Turns events to send again back into dead letters if their endpoint is no longer in the settings: otherwise they would be in no list,
   * and never be deleted.
   */
  async #giveBack(endpointId: string, lease: Lease): Promise<void> {
    const { deliveries } = this.#context;
    let count = 0;
    for (let after: string | null = "", page: DeliveryPage; after !== null; after = page.next) {
      page = await deliveries.listDeliveries("asked", endpointId, after || null);
      const puts = page.deliveries.map((one) => ({ ...one, state: "dead" as const }));
      if (puts.length > 0) await lease.write({ puts });
      count += puts.length;
    }
    if (count > 0)
      deliveries.report(
        new Error(
          `webhooks: ${count} dead letters are not sent again: "endpoints" has no such endpoint`,
        ),
      );
  }

  /** A side task. If it fails, sending continues; of several failures in a row, only the first is reported. */
  #beside(name: string, everyLooks: number, work: Work): Repetition {
    const pause = () => this.#looks(everyLooks);
    return new Repetition(pause, async (isEnded) => {
      try {
        await work(isEnded);
        this.#failing.delete(name);
      } catch (error) {
        const { report, isClosed } = this.#context.deliveries;
        if (!this.#failing.has(name) && !isClosed()) report(error);
        this.#failing.add(name);
      }
    });
  }

  /** Notices expiries, so that users of webhooks need not call `notice` themselves. Thousands do not hold up the end. */
  async #notice(isEnded: () => boolean): Promise<void> {
    let cursor: string | undefined;
    do {
      ({ cursor } = await this.#context.notice(cursor === undefined ? {} : { cursor }));
    } while (cursor !== undefined && !isEnded());
  }

  /** Deletes dead letters that are too old or too many. */
  async #prune(): Promise<void> {
    const { deliveries, settings } = this.#context;
    const { deadLettersForMs, maxDeadLetters } = settings;
    const now = deliveries.now();
    // The absolute value, in case the clock was set back.
    const isOldDue = Math.abs(now - this.#prunedAt) >= PRUNE_OLD_EVERY_MS;
    const { tooMany } = await deliveries.pruneDead({
      most: maxDeadLetters,
      ...(isOldDue && { since: now - deadLettersForMs }),
    });
    if (isOldDue) this.#prunedAt = now;
    if (tooMany > 0)
      deliveries.report(
        new Error(
          `webhooks: the ${tooMany} earliest dead letters were deleted: there were more than ${maxDeadLetters}`,
        ),
      );
  }
}

/** What a {@link Repetition} does each time. `isEnded`: whether it was ended meanwhile, for work that takes long. */
type Work = (isEnded: () => boolean) => Promise<void>;

/** A task that is repeated until it is ended or fails. */
class Repetition {
  readonly #pause: () => SpanMs;
  readonly #work: Work;
  readonly #alarm = new Alarm();
  #isEnded = false;

  /** `pause`: how long to wait before each time. */
  constructor(pause: () => SpanMs, work: Work) {
    this.#pause = pause;
    this.#work = work;
  }

  async run(): Promise<void> {
    while (!this.#isEnded) {
      await this.#alarm.wait(this.#pause());
      if (!this.#isEnded) await this.#work(() => this.#isEnded);
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#alarm.ring();
  }
}

/**
 * Stores the position of new endpoints: after all current events. The log is read before anything is awaited, so events after this call are
 * sent.
 *
 * @param beginning - The position to use instead.
 * @returns The position that a new endpoint gets.
 */
async function addPlaces(
  { deliveries, settings }: SendingContext,
  beginning?: string,
): Promise<string> {
  const [cursor, known] = await Promise.all([
    beginning ?? deliveries.endOfLogNow(),
    deliveries.readSender(),
  ]);
  const placesIn = ({ endpoints }: SenderState) =>
    settings.endpoints.map(({ id, url: { origin } }) => ({
      id,
      cursor: endpoints.find((place) => place.id === id)?.cursor ?? cursor,
      origin,
    }));
  const isKnown = ({ id, origin }: EndpointPlace) =>
    known.endpoints.some((place) => place.id === id && place.origin === origin);
  if (placesIn(known).every(isKnown)) return cursor;
  await deliveries.write((sender) => {
    const own = placesIn(sender);
    const others = sender.endpoints.filter(({ id }) => own.every((place) => place.id !== id));
    return { ...sender, endpoints: [...others.slice(-MOST_PLACES), ...own] };
  });
  return cursor;
}
