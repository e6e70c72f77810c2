import { z } from "zod";
import { type AuditEvent, toAuditEvent } from "../../audit/event.js";
import type { ErrorListener } from "../../lib/error-listener.js";
import { yieldToEventLoop } from "../../lib/event-loop.js";
import { auditEntryType } from "../../records/audit-entry.js";
import {
  DELIVERY_LIST,
  type Delivery,
  deliveriesIn,
  deliveryId,
  deliveryType,
} from "../../records/delivery.js";
import { SENDER_ID, type Sender, senderType } from "../../records/sender.js";
import type { EpochMs } from "../../time.js";
import type { PrunedCount } from "../audit-log/audit-log.js";
import { afterCursor, type OperationContext, transactPlain } from "../context.js";
import { decodeOrNull, deleteRecord } from "../damaged.js";
import { endOfLog, type LogPage, numberAt, readLogPage } from "../events/read-events.js";
import { id, pageFields, parseInput } from "../input.js";
import { decodeAll, type PageInfo, pageInfo, readRecordIn } from "../read.js";
import { instant, notLaterThanNow } from "../time-input.js";

/** What is written of an event that an endpoint did not take. */
export type DeliveryState = Omit<Delivery, "id" | "workspaceId" | "version">;

/** An event that was given up, with what it says now; null: it was pruned, or cannot be read. */
export interface DeadDelivery {
  readonly delivery: Delivery;
  readonly event: AuditEvent | null;
}

/** What becomes of deliveries in one step. */
export interface DeliveryChanges {
  /** Written, whether or not they are there. */
  readonly puts?: readonly DeliveryState[];
  /** Those that were taken. One that is gone is fine. */
  readonly taken?: readonly Pick<Delivery, "endpointId" | "eventId">[];
}

/** What sends the events of one workspace to endpoints works with: `@latchkey/webhooks`. No part of what callers use. */
export interface Deliveries {
  readonly workspaceId: string;
  readonly now: () => EpochMs;
  /** Says what nobody waits for, to the `onError` of the latchkey. */
  readonly report: ErrorListener;
  /** As `readEvents`, with the number of each. @param limit - 1 to 100. */
  readLog(input: {
    readonly after?: string | undefined;
    readonly limit: number;
    readonly types: readonly AuditEvent["type"][];
  }): Promise<LogPage>;
  /** A cursor of `readEvents` behind the latest event. */
  endOfLog(): Promise<string>;
  /** As {@link endOfLog}. What this latchkey is told to change after this call comes behind it, though nobody waits for the answer. */
  endOfLogNow(): Promise<string>;
  /** What an event says now; null: it was pruned, or cannot be read. */
  readEvent(eventId: string): Promise<AuditEvent | null>;
  /** Who sends. One that was never written has the version 0. */
  readSender(): Promise<Sender>;
  /**
   * Writes in one step, if the sender is still as it was when it was decided.
   *
   * @param decide - Answers the sender as it shall be; null: nothing is written. It may be asked several times.
   * @returns The sender, but for its version; null where nothing was written.
   */
  write(
    decide: (sender: Sender) => Sender | null,
    changes?: DeliveryChanges,
  ): Promise<Sender | null>;
  /** Up to 100 deliveries of an endpoint, in the order of their events. @param after - Id of the last one before. */
  listDeliveries(
    state: "pending" | "asked",
    endpointId: string,
    after: string | null,
  ): Promise<{
    readonly deliveries: readonly Delivery[];
    readonly damaged: number;
    readonly next: string | null;
  }>;
  /** The endpoints that have deliveries in the state `asked`, and how many in that state are damaged. */
  askedEndpoints(): Promise<{
    readonly endpointIds: ReadonlySet<string>;
    readonly damaged: number;
  }>;
  /** Which of these events have a delivery to an endpoint, in any state. */
  findStored(endpointId: string, eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** A page of the dead ones. @throws LatchkeyError `BAD_REQUEST`. */
  listDead(input: unknown): Promise<PageInfo & { readonly dead: readonly DeadDelivery[] }>;
  /**
   * Has a dead one sent again.
   *
   * @param input - `{ deadLetterId }`.
   * @param mayAsk - Throws where it cannot be sent.
   * @throws LatchkeyError `BAD_REQUEST`, `NOT_FOUND`.
   */
  redeliver(input: unknown, mayAsk: (delivery: Delivery) => void): Promise<void>;
  /** Deletes dead ones that are too old, or too many, in bounded steps. One whose event its endpoint would read again stays: it would be sent again. */
  pruneDead(kept: KeptDeadLetters): Promise<PrunedDead>;
  /** As {@link pruneDead}, as a caller says it. @param input - `{ before }`. @throws LatchkeyError `BAD_REQUEST`. */
  pruneDeadBefore(input: unknown): Promise<PrunedCount>;
  /** Where the endpoints are, as far as the store knows. */
  listEndpoints(): Promise<readonly EndpointState[]>;
}

/** Which dead letters stay. Without `since`, little is read where there are not more than `most`. */
export interface KeptDeadLetters {
  /** Those that were given up then or later. Default: all. */
  readonly since?: EpochMs;
  /** The latest of them. Default: all. */
  readonly most?: number;
}

/** How many were deleted. */
export interface PrunedDead {
  readonly old: number;
  readonly tooMany: number;
}

/** How far an endpoint has got. */
export interface EndpointState {
  readonly endpointId: string;
  /** Where its receiver is, such as `https://billing.example`; null where that was not kept. */
  readonly origin: string | null;
  /** Events of the log, of all types, that were not read for it yet. */
  readonly unread: number;
  /** Events that it refused and that are sent again, and those that wait behind them. */
  readonly waiting: number;
}

const redeliverInput = z.strictObject({ deadLetterId: id });
const deadLettersInput = z.strictObject(pageFields);
const pruneInput = z.strictObject({ before: instant(0) });

/** Dead letters that are read, and deleted, at once. */
const AT_ONCE = 100;

/** Makes the {@link Deliveries} of a workspace. */
export function createDeliveries(context: OperationContext, report: ErrorListener): Deliveries {
  const { store, workspaceId, now } = context;
  const newSender: Sender = {
    id: SENDER_ID,
    workspaceId,
    holder: null,
    until: 0,
    leaseMs: 0,
    endpoints: [],
    version: 0,
  };
  const senderWant = { kind: "sender", id: SENDER_ID } as const;

  async function readEvents(ids: readonly string[]): Promise<readonly (AuditEvent | null)[]> {
    const wants = ids.map((each) => ({ kind: "auditEntry", id: each }) as const);
    const { found } = await store.read(workspaceId, wants);
    return found.map((loaded) => {
      const entry = loaded && decodeOrNull(auditEntryType, loaded.record, workspaceId);
      return entry && toAuditEvent(entry);
    });
  }

  async function readSender(): Promise<Sender> {
    const { found } = await store.read(workspaceId, [senderWant]);
    return found[0] ? senderType.decode(found[0].record, workspaceId) : newSender;
  }

  async function endOfLogNow(): Promise<string> {
    const { readsOfLogEnd } = context;
    const reading = endOfLog(context);
    const all = Promise.allSettled([readsOfLogEnd.get(workspaceId), reading]);
    readsOfLogEnd.set(workspaceId, all);
    try {
      return await reading;
    } finally {
      if (readsOfLogEnd.get(workspaceId) === all) readsOfLogEnd.delete(workspaceId);
    }
  }

  /** How far each endpoint has read. */
  const readPlaces = ({ endpoints }: Sender) =>
    new Map(endpoints.map(({ id, cursor }) => [id, numberAt(context, cursor)]));

  async function listDeliveries(list: string, after: string | null) {
    const result = await page(list, after, AT_ONCE);
    const next = result.hasMore ? (result.found.at(-1)?.record.id ?? null) : null;
    const deliveries = decodeAll(deliveryType, result, workspaceId);
    return { deliveries, damaged: result.found.length - deliveries.length, next };
  }

  async function* deliveriesOn(list: string): AsyncGenerator<Page, void, undefined> {
    for (let after: string | null = ""; after !== null; ) {
      const part: Page = await listDeliveries(list, after || null);
      yield part;
      after = part.next;
    }
  }

  async function countDeliveries(list: string): Promise<number> {
    let count = 0;
    for await (const { deliveries } of deliveriesOn(list)) count += deliveries.length;
    return count;
  }

  /** Deletes dead letters, the earliest event first, but for those that are none any more. @returns How many. */
  async function deleteDead(
    isWanted: (dead: Delivery) => boolean,
    isOver: () => boolean,
  ): Promise<number> {
    let deleted = 0;
    for await (const { deliveries } of deliveriesOn(DEAD_LIST)) {
      if (isOver()) break;
      const wanted = deliveries.filter(isWanted);
      if (wanted.length > 0) {
        const answer = await transactPlain(context, async (transaction) => {
          const found = await transaction.read(wanted.map(deliveryWant));
          const dead = found.flatMap((loaded) => {
            const now = loaded && decodeOrNull(deliveryType, loaded.record, workspaceId);
            return now?.state === "dead" ? [now] : [];
          });
          for (const each of dead) transaction.delete(deliveryType, each);
          return dead.length;
        });
        deleted += answer;
      }
      await yieldToEventLoop(0);
    }
    return deleted;
  }

  async function pruneDead({ since, most = Number.POSITIVE_INFINITY }: KeptDeadLetters) {
    if (since === undefined && (await page(DEAD_LIST, null, 1)).size <= most)
      return { old: 0, tooMany: 0 };
    const before = since ?? Number.NEGATIVE_INFINITY;
    const places = readPlaces(await readSender());
    const isPassed = ({ endpointId, number }: Delivery) =>
      number <= (places.get(endpointId) ?? Number.POSITIVE_INFINITY);
    let excess = -most;
    const isOld = (dead: Delivery) => {
      const isGone = dead.at < before && isPassed(dead);
      if (!isGone) excess += 1;
      return isGone;
    };
    const old = await deleteDead(isOld, () => false);
    if (excess <= 0) return { old, tooMany: 0 };
    const isTooMany = (dead: Delivery) => {
      const isGone = excess > 0 && isPassed(dead);
      if (isGone) excess -= 1;
      return isGone;
    };
    return { old, tooMany: await deleteDead(isTooMany, () => excess <= 0) };
  }

  const page = (of: string, after: string | null, limit: number) =>
    store.page(workspaceId, { kind: "delivery", list: DELIVERY_LIST, of, after, limit });

  return {
    workspaceId,
    now,
    report,
    readLog: ({ types, ...rest }) => readLogPage(context, { ...rest, types: [...types] }),
    endOfLog: () => endOfLog(context),
    endOfLogNow,
    readEvent: async (eventId) => (await readEvents([eventId]))[0] ?? null,

    readSender,

    async write(decide, { puts = [], taken = [] } = {}) {
      return transactPlain(context, async (transaction) => {
        const loaded = await transaction.readOne(senderWant);
        const before = loaded === null ? newSender : senderType.decode(loaded.record, workspaceId);
        const after = decide(before);
        if (after === null) return null;
        if (loaded !== null && after !== before) transaction.update(senderType, before, after);
        if (loaded === null) {
          transaction.expect({ ...senderWant, version: null });
          transaction.insert(senderType, { ...after, version: 1 });
        }
        for (const { endpointId, eventId } of taken)
          await deleteRecord(transaction, deliveryType, deliveryId(endpointId, eventId));
        const wants = puts.map(deliveryWant);
        const found = wants.length === 0 ? [] : await transaction.read(wants);
        puts.forEach((put, index) => {
          const known = found[index];
          const { id } = wants[index] as { readonly id: string };
          const delivery = { ...put, id, workspaceId, version: known?.record.version ?? 1 };
          const old = known && decodeOrNull(deliveryType, known.record, workspaceId);
          if (old) transaction.update(deliveryType, old, delivery);
          else transaction.insert(deliveryType, delivery);
        });
        return after;
      });
    },

    async listDeliveries(state, endpointId, after) {
      const { deliveries, ...rest } = await listDeliveries(deliveriesIn(state, endpointId), after);
      return { deliveries: deliveries.filter((one) => one.endpointId === endpointId), ...rest };
    },

    async askedEndpoints() {
      const endpointIds = new Set<string>();
      let damaged = 0;
      for await (const part of deliveriesOn(deliveriesIn("asked", ""))) {
        for (const { endpointId } of part.deliveries) endpointIds.add(endpointId);
        damaged += part.damaged;
      }
      return { endpointIds, damaged };
    },

    async findStored(endpointId, eventIds) {
      const wants = eventIds.map((eventId) => deliveryWant({ endpointId, eventId }));
      const { found } = await store.read(workspaceId, wants);
      const isStored = (loaded: (typeof found)[number]) =>
        loaded !== null && decodeOrNull(deliveryType, loaded.record, workspaceId) !== null;
      return new Set(eventIds.filter((_, index) => isStored(found[index] ?? null)));
    },

    async listDead(input = {}) {
      const { limit, cursor } = parseInput(deadLettersInput, input);
      const scope = { list: "dead-letters", ownerId: workspaceId } as const;
      const result = await page(DEAD_LIST, afterCursor(scope, cursor), limit);
      const deliveries = decodeAll(deliveryType, result, workspaceId);
      const events = await readEvents(deliveries.map(({ eventId }) => eventId));
      const dead = deliveries.map((delivery, index) => ({
        delivery,
        event: events[index] ?? null,
      }));
      return { dead, ...pageInfo(scope, result, result.found.length - dead.length) };
    },

    async redeliver(input, mayAsk) {
      const { deadLetterId } = parseInput(redeliverInput, input);
      await transactPlain(context, async (transaction) => {
        const want = { kind: "delivery", id: deadLetterId } as const;
        const { value } = await readRecordIn(transaction, deliveryType, want, "dead letter");
        mayAsk(value);
        if (value.state === "dead")
          transaction.update(deliveryType, value, { ...value, state: "asked" });
      });
    },

    pruneDead,

    async pruneDeadBefore(input) {
      const read = (raw: Readonly<Record<string, unknown>>) =>
        notLaterThanNow(raw, "before", now());
      const { old } = await pruneDead({ since: parseInput(pruneInput, input, read).before });
      return { deleted: old };
    },

    async listEndpoints() {
      const [sender, end] = await Promise.all([readSender(), endOfLog(context)]);
      const [places, last] = [readPlaces(sender), numberAt(context, end)];
      const states: EndpointState[] = [];
      for (const { id: endpointId, origin } of sender.endpoints) {
        const waiting = await countDeliveries(deliveriesIn("pending", endpointId));
        const unread = Math.max(0, last - (places.get(endpointId) ?? 0));
        states.push({ endpointId, origin, unread, waiting });
      }
      return states;
    },
  };
}

/** A page of deliveries in one state. */
type Page = Awaited<ReturnType<Deliveries["listDeliveries"]>>;

/** Of the dead letters of all endpoints. */
const DEAD_LIST = deliveriesIn("dead", "");

function deliveryWant({ endpointId, eventId }: Pick<Delivery, "endpointId" | "eventId">) {
  return { kind: "delivery", id: deliveryId(endpointId, eventId) } as const;
}

/** By its name, so that it is the same where a program has core twice; and what a latchkey is spread into has it too. */
export const DELIVERIES: unique symbol = Symbol.for("@latchkey/core/deliveries");

/**
 * What `@latchkey/webhooks` works with. Programs have no use for it: it may change with any version.
 *
 * @throws TypeError for what is no latchkey.
 */
export function deliveriesOf(latchkey: object): Deliveries {
  const open = (latchkey as { readonly [DELIVERIES]?: unknown } | null)?.[DELIVERIES];
  if (typeof open === "function") return open() as Deliveries;
  throw new TypeError('"latchkey" must be what createLatchkey answers');
}
