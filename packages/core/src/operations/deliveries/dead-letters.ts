import { z } from "zod";
import type { AuditEvent } from "../../audit/entry.js";
import { parseInput } from "../../lib/parse-input.js";
import { type Delivery, deliveriesIn, deliveryId, deliveryType } from "../../records/delivery.js";
import type { PageResult } from "../../store/key-store.js";
import type { EpochMs } from "../../time.js";
import { type OperationContext, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import type { PrunedCount } from "../events/audit-log.js";
import { id, pageInput } from "../input.js";
import {
  decodeAll,
  listPages,
  nextAfter,
  type PageInfo,
  readList,
  readPage,
  readRecordIn,
} from "../read.js";
import { pruneInput, pruneIssues } from "../time-input.js";

/** Deliveries read, and deleted, at once. */
const AT_ONCE = 100;

const DEAD_LIST: string = deliveriesIn("dead", "");

/** Up to 100 deliveries of a list. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** How many others cannot be read. */
  readonly damaged: number;
  /** The id to continue after; null on the last page. */
  readonly next: string | null;
}

export function deliveryWant({ endpointId, eventId }: Pick<Delivery, "endpointId" | "eventId">) {
  return { kind: "delivery", id: deliveryId(endpointId, eventId) } as const;
}

/** Deliveries of a list, in the order of their events. */
export async function readDeliveries(
  context: OperationContext,
  list: string,
  after: string | null,
): Promise<DeliveryPage> {
  const want = { kind: "delivery", of: list, after, limit: AT_ONCE } as const;
  return toDeliveryPage(context, await readList(context, want));
}

export async function* deliveryPages(
  context: OperationContext,
  list: string,
): AsyncGenerator<DeliveryPage, void, undefined> {
  for await (const page of listPages(context, { kind: "delivery", of: list, limit: AT_ONCE }))
    yield toDeliveryPage(context, page);
}

function toDeliveryPage(context: OperationContext, page: PageResult): DeliveryPage {
  const deliveries = decodeAll(deliveryType, page, context);
  return { deliveries, damaged: page.found.length - deliveries.length, next: nextAfter(page) };
}

/** A delivery that was given up, with its event as it is now; null: it was pruned or cannot be read. */
export interface DeadDelivery {
  readonly delivery: Delivery;
  readonly event: AuditEvent | null;
}

/** Which dead letters stay. Without `since`, pruning reads little if there are at most `most`. */
export interface KeptDeadLetters {
  /** Those given up at this instant or later. Default: all. */
  readonly since?: EpochMs;
  /** The latest of them. Default: all. */
  readonly most?: number;
}

/** Operations on dead letters: deliveries that were given up. */
export interface DeadLetters {
  /** A page of dead letters. @throws LatchkeyError `BAD_REQUEST`. */
  listDead(input: unknown): Promise<PageInfo & { readonly dead: readonly DeadDelivery[] }>;
  /**
   * Asks for a dead letter to be sent again, unless `mayAsk` throws. `input`: `{ deadLetterId }`. @throws LatchkeyError `BAD_REQUEST`,
   * `NOT_FOUND`.
   */
  redeliver(input: unknown, mayAsk: (delivery: Delivery) => void): Promise<void>;
  /** Deletes dead letters that are too old or too many, in bounded steps, except those whose event would be read, and sent, again. */
  pruneDead(kept: KeptDeadLetters): Promise<{ readonly old: number; readonly tooMany: number }>;
  /** Like {@link pruneDead}, from the input of a caller. `input`: `{ before }`. @throws LatchkeyError `BAD_REQUEST`. */
  pruneDeadBefore(input: unknown): Promise<PrunedCount>;
}

const redeliverInput = z.strictObject({ deadLetterId: id });

/** Makes the {@link DeadLetters} of a workspace. `readEvents`: null for an event that is gone or damaged. `readPlaces`: by endpoint. */
export function createDeadLetters(
  context: OperationContext,
  readEvents: (ids: readonly string[]) => Promise<readonly (AuditEvent | null)[]>,
  readPlaces: () => Promise<ReadonlyMap<string, number>>,
): DeadLetters {
  const { workspaceId, now } = context;
  const scope = { list: "dead-letters", ownerId: workspaceId } as const;
  const readDead = (page: z.output<typeof pageInput>) =>
    readPage(context, deliveryType, scope, page, { of: DEAD_LIST });

  /** Deletes dead letters, the earliest event first, except those that are no longer dead. @returns How many. */
  async function deleteDead(isWanted: (dead: Delivery) => boolean, isOver: () => boolean) {
    let deleted = 0;
    for await (const { deliveries } of deliveryPages(context, DEAD_LIST)) {
      if (isOver()) break;
      const wanted = deliveries.filter(isWanted);
      if (wanted.length === 0) continue;
      deleted += await transact(context, async ({ transaction }) => {
        const found = await transaction.read(wanted.map(deliveryWant));
        const dead = found.flatMap((loaded) => {
          const now = decodeOrNull(deliveryType, loaded?.record, context);
          return now?.state === "dead" ? [now] : [];
        });
        for (const each of dead) transaction.delete(deliveryType, each);
        return dead.length;
      });
    }
    return deleted;
  }

  async function pruneDead({ since, most = Number.POSITIVE_INFINITY }: KeptDeadLetters) {
    if (since === undefined && (await readDead({ limit: 1 })).total <= most)
      return { old: 0, tooMany: 0 };
    const before = since ?? Number.NEGATIVE_INFINITY;
    const places = await readPlaces();
    const isPassed = ({ endpointId, number }: Delivery) =>
      number <= (places.get(endpointId) ?? Number.POSITIVE_INFINITY);
    let excess = -most;
    const isOld = (dead: Delivery) => {
      const isGone = dead.at < before && isPassed(dead);
      if (!isGone) excess += 1;
      return isGone;
    };
    const isTooMany = (dead: Delivery) => {
      const isGone = excess > 0 && isPassed(dead);
      if (isGone) excess -= 1;
      return isGone;
    };
    const old = await deleteDead(isOld, () => false);
    return { old, tooMany: excess <= 0 ? 0 : await deleteDead(isTooMany, () => excess <= 0) };
  }

  return {
    async listDead(input = {}) {
      const { items, info } = await readDead(parseInput(pageInput, input));
      const events = await readEvents(items.map(({ eventId }) => eventId));
      const dead = items.map((delivery, index) => ({ delivery, event: events[index] ?? null }));
      return { dead, ...info };
    },

    async redeliver(input, mayAsk) {
      const { deadLetterId } = parseInput(redeliverInput, input);
      await transact(context, async ({ transaction }) => {
        const { value } = await readRecordIn(transaction, deliveryType, deadLetterId);
        mayAsk(value);
        if (value.state === "dead")
          transaction.update(deliveryType, value, { ...value, state: "asked" });
      });
    },

    pruneDead,

    async pruneDeadBefore(input) {
      const { before } = parseInput(pruneInput, input, (raw) => pruneIssues(raw, now()));
      return { deleted: (await pruneDead({ since: before })).old };
    },
  };
}
