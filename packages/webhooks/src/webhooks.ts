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

/** An event that could not be delivered, and is no longer retried. */
export interface DeadLetter {
  /** For `redeliver`. */
  readonly deadLetterId: string;
  /** URL of the endpoint; absent if it is no longer one of `endpoints`. */
  readonly url?: string;
  /** Id of the event. */
  readonly eventId: string;
  /** The event as stored now, without data erased since. Absent if it was pruned: it cannot be sent again then. */
  readonly event?: AuditEvent;
  /** Number of tries, including those that could not be sent, such as to a private address. */
  readonly tries: number;
  /** When it was given up: Unix epoch ms. */
  readonly givenUpAt: EpochMs;
  /** Why the last try failed: an HTTP status (`500`), the code of a system error (`ECONNREFUSED`), or a word (`timeout`). */
  readonly failure: string;
}

/** A page of dead letters. */
export interface DeadLetterList {
  /** In the order of their events. */
  readonly deadLetters: readonly DeadLetter[];
  /** Cursor of the next page; absent on the last one. */
  readonly cursor?: string;
  /** Number of damaged dead letters that were left out; absent: none. */
  readonly damaged?: number;
}

/** Sends the events of a workspace. */
export interface Webhooks {
  /**
   * Starts sending; if another process is sending, takes over when that one stops. New endpoints start with the first event after this
   * call, which resolves when their position is stored.
   *
   * @throws LatchkeyError `PRECONDITION_FAILED` with the reason `no-audit-log` if `auditLog` is false; `STORE_UNAVAILABLE`.
   * @example
   * await webhooks.start();
   */
  start(): Promise<void>;
  /**
   * Stops sending, so that another process can take over at once. Requests that do not end within a second are sent again later. Call it
   * before `close` of the latchkey, which ends sending too, but keeps other processes waiting for `leaseMs`.
   *
   * @example
   * await webhooks.stop();
   */
  stop(): Promise<void>;
  /**
   * Lists dead letters, a page at a time.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { deadLetters, cursor } = await webhooks.listDeadLetters({ limit: 20 });
   */
  listDeadLetters(input?: {
    /** 1 to 100. Default: 100. */
    readonly limit?: number | undefined;
    /** The `cursor` of the previous page. */
    readonly cursor?: string | undefined;
  }): Promise<DeadLetterList>;
  /**
   * Sends a dead letter again, from the process that sends, as if the event had just happened. It is then no longer a dead letter.
   * Repeating the call changes nothing.
   *
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` if its endpoint is not one of `endpoints`.
   * @example
   * await webhooks.redeliver({ deadLetterId });
   */
  redeliver(input: {
    /** As `listDeadLetters` returns it. */
    readonly deadLetterId: string;
  }): Promise<void>;
  /**
   * Deletes dead letters that were given up before an instant, except those being sent again. The process that sends does this itself for
   * those older than `deadLettersForMs` or beyond `maxDeadLetters`.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { deleted } = await webhooks.pruneDeadLetters({ before: latchkey.now() - 7 * 86_400_000 });
   */
  pruneDeadLetters(input: {
    /** Unix epoch ms or a `Date`, not later than now. */
    readonly before: number | Date;
  }): Promise<PrunedCount>;
}

/** A latchkey, whatever names and metadata its program declares. */
type AnyLatchkey = Pick<Latchkey, "workspaceId" | "now" | "notice">;

/**
 * Creates a sender of the events of a latchkey's workspace: at least once, in order per key, even if processes are killed.
 *
 * @param latchkey - A latchkey, or `workspace` of one. The sender uses its clock.
 * @throws TypeError naming the wrong option and its bound.
 * @example
 * const webhooks = createWebhooks(latchkey, {
 *   endpoints: [{ url: "https://billing.example/hooks", types: ["key.created", "key.deleted"], secret }],
 * });
 * await webhooks.start();
 */
export function createWebhooks(latchkey: AnyLatchkey, options: WebhookOptions): Webhooks {
  return createWebhooksWith(latchkey, options, {});
}

/** Settings that only a test overrides. */
export type TestSettings = Partial<Omit<SendingContext, "deliveries" | "settings" | "notice">>;

/** How often to look for new events. */
const LOOK_EVERY_MS = 500;

/** {@link createWebhooks}, with settings that only a test overrides. */
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
      let asked = "";
      await deliveries.redeliver(input, ({ endpointId }) => {
        asked = endpointId;
        if (!urls.has(endpointId))
          throw new LatchkeyError(
            "PRECONDITION_FAILED",
            'the endpoint of this dead letter is not in "endpoints": add it, and call this again',
          );
      });
      sender.wake(asked);
    },

    pruneDeadLetters: (input) => deliveries.pruneDeadBefore(input),
  };
}
