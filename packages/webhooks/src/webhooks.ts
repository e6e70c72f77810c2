import {
  type AuditEvent,
  deliveriesOf,
  type EpochMs,
  type Latchkey,
  LatchkeyError,
  type PrunedCount,
} from "@latchkey/core";
import type { SendingContext } from "./endpoint-sender.js";
import { readSettings, type WebhookOptions } from "./options.js";
import { Sender } from "./sender.js";

/** An event that an endpoint did not take: it was given up. */
export interface DeadLetter {
  /** For `redeliver`. */
  readonly deadLetterId: string;
  /** URL of the endpoint; absent where it is none of `endpoints` any more. */
  readonly url?: string;
  /** Id of the event. */
  readonly eventId: string;
  /** The event as it is now: what was erased meanwhile is not in it. Absent where it was pruned: then it cannot be sent again. */
  readonly event?: AuditEvent;
  /** How often it was sent. */
  readonly tries: number;
  /** When it was given up: Unix epoch ms. */
  readonly givenUpAt: EpochMs;
  /** Why it was not taken the last time: an HTTP status (`500`), the code of a system error (`ECONNREFUSED`), or a word (`timeout`). */
  readonly failure: string;
}

/** A page of dead letters. */
export interface DeadLetterList {
  /** In the order in which their events were made. */
  readonly deadLetters: readonly DeadLetter[];
  /** Of the next page; absent on the last one. */
  readonly cursor?: string;
  /** How many could not be read and were left out; absent for none. */
  readonly damaged?: number;
}

/** Sends the events of a workspace. */
export interface Webhooks {
  /**
   * Begins to send, here or, while another process sends, when that has stopped. Resolves when it is written down where endpoints begin that were
   * never seen before: with the first event after this was called.
   *
   * @throws LatchkeyError `PRECONDITION_FAILED` with the reason `no-audit-log` where `auditLog` is false; `STORE_UNAVAILABLE`.
   * @example
   * await webhooks.start();
   */
  start(): Promise<void>;
  /**
   * Ends sending, and lets another process begin at once. What is under way has a second to end; it is sent again otherwise. Call it before
   * `close` of the latchkey.
   *
   * @example
   * await webhooks.stop();
   */
  stop(): Promise<void>;
  /**
   * Lists events that were given up, a page at a time.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { deadLetters, cursor } = await webhooks.listDeadLetters({ limit: 20 });
   */
  listDeadLetters(input?: {
    /** 1 to 100; 100 unless given. */
    readonly limit?: number | undefined;
    /** The `cursor` of the page before. */
    readonly cursor?: string | undefined;
  }): Promise<DeadLetterList>;
  /**
   * Has an event sent again, by whichever process sends, as if it had just happened: it is no dead letter any more. Calling it twice is once.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` where its endpoint is none of `endpoints`.
   * @example
   * await webhooks.redeliver({ deadLetterId });
   */
  redeliver(input: {
    /** As `listDeadLetters` answers it. */
    readonly deadLetterId: string;
  }): Promise<void>;
  /**
   * Deletes dead letters that were given up before an instant. It leaves those alone that are sent again. While a process sends, it deletes
   * those that are older than `deadLettersForMs`, and more than `maxDeadLetters`, by itself.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { deleted } = await webhooks.pruneDeadLetters({ before: latchkey.now() - 7 * 86_400_000 });
   */
  pruneDeadLetters(input: {
    /** An instant, Unix epoch ms or a `Date`, not later than now. */
    readonly before: number | Date;
  }): Promise<PrunedCount>;
}

/** A latchkey, whatever names and metadata its program knows. */
type AnyLatchkey = Pick<Latchkey, "workspaceId" | "now" | "notice">;

/**
 * Makes what sends the events of a latchkey's workspace to webhooks: at least once, in order per key, also when processes are killed.
 *
 * @param latchkey - What createLatchkey answers, or `workspace` of it. Its clock is that of the sender.
 * @throws TypeError naming the option that is wrong and its bound.
 * @example
 * const webhooks = createWebhooks(latchkey, {
 *   endpoints: [{ url: "https://billing.example/hooks", types: ["key.created", "key.deleted"], secret }],
 * });
 * await webhooks.start();
 */
export function createWebhooks(latchkey: AnyLatchkey, options: WebhookOptions): Webhooks {
  return createWebhooksWith(latchkey, options, {});
}

/** What a test decides. */
export type TestSettings = Partial<Omit<SendingContext, "deliveries" | "settings" | "notice">>;

/** How often it is looked for what is new. */
const LOOK_EVERY_MS = 500;

/** As {@link createWebhooks}, with what a test decides. */
export function createWebhooksWith(
  latchkey: AnyLatchkey,
  options: WebhookOptions,
  { resolve, chance = Math.random, lookEveryMs = LOOK_EVERY_MS }: TestSettings,
): Webhooks {
  const deliveries = deliveriesOf(latchkey);
  const settings = readSettings(options);
  const sender = new Sender({
    deliveries,
    settings,
    resolve,
    chance,
    lookEveryMs,
    notice: latchkey.notice,
  });
  const urls = new Map(settings.endpoints.map(({ id, url }) => [id, url.href]));
  return {
    start: () => sender.start(),
    stop: () => sender.stop(),

    async listDeadLetters(input) {
      const { dead, ...page } = await deliveries.listDead(input);
      const deadLetters = dead.map(({ delivery, event }): DeadLetter => {
        const { id: deadLetterId, endpointId, eventId, tries, at, failure } = delivery;
        const url = urls.get(endpointId);
        return {
          deadLetterId,
          ...(url !== undefined && { url }),
          eventId,
          ...(event !== null && { event }),
          tries,
          givenUpAt: at,
          failure: failure ?? "unknown",
        };
      });
      return { deadLetters, ...page };
    },

    async redeliver(input) {
      await deliveries.redeliver(input, ({ endpointId }) => {
        if (!urls.has(endpointId))
          throw new LatchkeyError(
            "PRECONDITION_FAILED",
            "the endpoint of this dead letter is none of endpoints: add it, and call this again",
          );
      });
      sender.wake();
    },

    pruneDeadLetters: (input) => deliveries.pruneDeadBefore(input),
  };
}
