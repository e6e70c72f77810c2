import { type Delivery, deliveriesIn, deliveryId, deliveryType } from "../../records/delivery.js";
import type { OperationContext } from "../context.js";
import { decodeAll } from "../read.js";

/** Deliveries read, and deleted, at once. */
const AT_ONCE = 100;

/** The dead letters of all endpoints. */
export const DEAD_LIST: string = deliveriesIn("dead", "");

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
  { store, workspaceId }: OperationContext,
  list: string,
  after: string | null,
): Promise<DeliveryPage> {
  const want = { kind: "delivery", list: "delivery", of: list, after, limit: AT_ONCE } as const;
  const page = await store.page(workspaceId, want);
  const deliveries = decodeAll(deliveryType, page, workspaceId);
  const next = page.hasMore ? (page.found.at(-1)?.record.id ?? null) : null;
  return { deliveries, damaged: page.found.length - deliveries.length, next };
}

export async function* deliveryPages(
  context: OperationContext,
  list: string,
): AsyncGenerator<DeliveryPage, void, undefined> {
  for (let after: string | null = ""; after !== null; ) {
    const page: DeliveryPage = await readDeliveries(context, list, after || null);
    yield page;
    after = page.next;
  }
}
