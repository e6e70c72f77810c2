import { type AuditEvent, toAuditEvent } from "../../audit/entry.js";
import type { ErrorListener } from "../../lib/error-listener.js";
import { auditEntryType } from "../../records/audit-entry.js";
import {
  type Delivery,
  deliveriesIn,
  deliveryId,
  deliveryType,
  SENDER_ID,
  type Sender,
  senderType,
} from "../../records/delivery.js";
import { type Clock, checkedInstant } from "../../time.js";
import { type OperationContext, transact } from "../context.js";
import { decodeOrNull, deleteRecord } from "../damaged.js";
import { endOfLog, type LogPage, numberAt, readLogPage } from "../events/read-events.js";
import { findRecord, findRecords, wantsOf } from "../read.js";
import {
  createDeadLetters,
  type DeadLetters,
  type DeliveryPage,
  deliveryPages,
  deliveryWant,
  readDeliveries,
} from "./dead-letters.js";

/** The stored state of an event that an endpoint did not accept. */
export type DeliveryState = Omit<Delivery, "id" | "workspaceId" | "version">;

/** Changes to deliveries in one step. */
export interface DeliveryChanges {
  /** Inserted, or overwritten if they exist. */
  readonly puts?: readonly DeliveryState[];
  /** Deliveries that were accepted: they are deleted, if they still exist. */
  readonly taken?: readonly Pick<Delivery, "endpointId" | "eventId">[];
}

/** What `@latchkey/webhooks` uses to send the events of one workspace to endpoints. Not for other callers. */
export interface Deliveries extends DeadLetters {
  readonly workspaceId: string;
  /**
   * The latchkey's `clock` as it is, which may be set back. The latchkey's own `now()` would then stand still until the clock has caught
   * up, and no waiting delivery would be sent.
   */
  readonly now: Clock;
  /** Passes failures that no caller waits for to the latchkey's `onError`. */
  readonly report: ErrorListener;
  /** Whether `close` of the latchkey was called: no call of the store can succeed from then on. */
  readonly isClosed: () => boolean;
  /** Like `readEvents`, with the number of each event. `limit`: 1 to 100. */
  readLog(input: {
    readonly after?: string | undefined;
    readonly limit: number;
    readonly types: readonly AuditEvent["type"][];
  }): Promise<LogPage>;
  /** A cursor of `readEvents` after the latest event. */
  endOfLog(): Promise<string>;
  /**
   * Like {@link endOfLog}. Changes that this latchkey begins after this call come after the cursor, even if they do not wait for the call
   * to resolve.
   */
  endOfLogNow(): Promise<string>;
  /** An event as it is now; null: it was pruned or cannot be read. */
  readEvent(eventId: string): Promise<AuditEvent | null>;
  /** The sender of the workspace. One that was never written has version 0. */
  readSender(): Promise<Sender>;
  /**
   * Writes the sender and the changes in one step, if the sender is still the one that `decide` was given. `decide` may run several times;
   * if it returns null, nothing is written.
   */
  write(
    decide: (sender: Sender) => Sender | null,
    changes?: DeliveryChanges,
  ): Promise<Sender | null>;
  /** Up to 100 deliveries of an endpoint, in the order of their events. `after`: id of the last one before. */
  listDeliveries(
    state: "pending" | "asked",
    endpointId: string,
    after: string | null,
  ): Promise<DeliveryPage>;
  /** The endpoints that have deliveries in the state `asked`, and how many in that state are damaged. */
  askedEndpoints(): Promise<{
    readonly endpointIds: ReadonlySet<string>;
    readonly damaged: number;
  }>;
  /** Which of these events have a delivery to an endpoint, in any state. */
  findStored(endpointId: string, eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** How far each endpoint has got, as far as the store knows. */
  listEndpoints(): Promise<readonly EndpointState[]>;
}

/** How far an endpoint has got. */
export interface EndpointState {
  readonly endpointId: string;
  /** Origin of its receiver, such as `https://billing.example`; null if it was not stored. */
  readonly origin: string | null;
  /** Events of the log, of all types, that were not read for it yet. */
  readonly unread: number;
  /** Events that it refused and that are sent again, and those that wait behind them. */
  readonly waiting: number;
}

/** What a latchkey adds to a workspace for sending its events. */
export interface DeliveriesHost {
  readonly clock: Clock;
  readonly report: ErrorListener;
  readonly isClosed: () => boolean;
}

export function createDeliveries(
  context: OperationContext,
  { clock, report, isClosed }: DeliveriesHost,
): Deliveries {
  const { workspaceId } = context;
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
    const found = await findRecords(context, wantsOf("auditEntry", ids));
    return found.map((loaded) => {
      const entry = decodeOrNull(auditEntryType, loaded?.record, context);
      return entry && toAuditEvent(entry);
    });
  }

  async function readSender(): Promise<Sender> {
    const loaded = await findRecord(context, senderWant);
    return loaded === null ? newSender : senderType.decode(loaded.record, workspaceId);
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

  async function countDeliveries(list: string): Promise<number> {
    let count = 0;
    for await (const { deliveries } of deliveryPages(context, list)) count += deliveries.length;
    return count;
  }

  return {
    ...createDeadLetters(context, readEvents, async () => readPlaces(await readSender())),
    workspaceId,
    now: () => checkedInstant(clock()),
    report,
    isClosed,
    readLog: ({ types, ...rest }) => readLogPage(context, { ...rest, types: [...types] }),
    endOfLog: () => endOfLog(context),
    endOfLogNow,
    readEvent: async (eventId) => (await readEvents([eventId]))[0] ?? null,

    readSender,

    async write(decide, { puts = [], taken = [] } = {}) {
      return transact(context, async ({ transaction }) => {
        const loaded = await transaction.readOne(senderWant);
        const before = loaded === null ? newSender : senderType.decode(loaded.record, workspaceId);
        const after = decide(before);
        if (after === null) return null;
        if (loaded !== null && after !== before) transaction.update(senderType, before, after);
        if (loaded === null) {
          transaction.expectAbsent(senderWant);
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
          const old = decodeOrNull(deliveryType, known?.record, context);
          if (old) transaction.update(deliveryType, old, delivery);
          else transaction.insert(deliveryType, delivery);
        });
        return after;
      });
    },

    async listDeliveries(state, endpointId, after) {
      const list = deliveriesIn(state, endpointId);
      const { deliveries, ...rest } = await readDeliveries(context, list, after);
      return { deliveries: deliveries.filter((one) => one.endpointId === endpointId), ...rest };
    },

    async askedEndpoints() {
      const endpointIds = new Set<string>();
      let damaged = 0;
      for await (const part of deliveryPages(context, deliveriesIn("asked", ""))) {
        for (const { endpointId } of part.deliveries) endpointIds.add(endpointId);
        damaged += part.damaged;
      }
      return { endpointIds, damaged };
    },

    async findStored(endpointId, eventIds) {
      const wants = eventIds.map((eventId) => deliveryWant({ endpointId, eventId }));
      const found = await findRecords(context, wants);
      const stored = found.map((loaded) => decodeOrNull(deliveryType, loaded?.record, context));
      return new Set(eventIds.filter((_, index) => stored[index]));
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

/** A registered symbol: two copies of core in one program share it. An object that a latchkey is spread into has it too. */
export const DELIVERIES: unique symbol = Symbol.for("@latchkey/core/deliveries");

/** Only for `@latchkey/webhooks`: it may change with any version. @throws TypeError if `latchkey` is not a latchkey. */
export function deliveriesOf(latchkey: object): Deliveries {
  const open = (latchkey as { readonly [DELIVERIES]?: unknown } | null)?.[DELIVERIES];
  if (typeof open === "function") return open() as Deliveries;
  throw new TypeError('"latchkey" must be the object that createLatchkey returns');
}
