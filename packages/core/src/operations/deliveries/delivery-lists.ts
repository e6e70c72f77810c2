import {
  DELIVERY_LIST,
  type Delivery,
  deliveriesIn,
  deliveryId,
  deliveryType,
} from "../../records/delivery.js";
import type { PageResult } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";
import { decodeAll } from "../read.js";

/** Deliveries that are read, and deleted, at once. */
const AT_ONCE = 100;

/** The dead letters of all endpoints. */
export const DEAD_LIST: string = deliveriesIn("dead", "");

/** Up to 100 deliveries of a list. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Others that cannot be read. */
  readonly damaged: number;
  /** The id to go on after; null on the last page. */
  readonly next: string | null;
}

/** The delivery of an event to an endpoint. */
export function deliveryWant({ endpointId, eventId }: Pick<Delivery, "endpointId" | "eventId">) {
  return { kind: "delivery", id: deliveryId(endpointId, eventId) } as const;
}

/** The lists of deliveries of a workspace, in the order of their events. */
export class DeliveryLists {
  readonly #context: Pick<OperationContext, "store" | "workspaceId">;

  constructor(context: Pick<OperationContext, "store" | "workspaceId">) {
    this.#context = context;
  }

  read(list: string, after: string | null, limit: number): Promise<PageResult> {
    const { store, workspaceId } = this.#context;
    return store.page(workspaceId, {
      kind: "delivery",
      list: DELIVERY_LIST,
      of: list,
      after,
      limit,
    });
  }

  async page(list: string, after: string | null): Promise<DeliveryPage> {
    const result = await this.read(list, after, AT_ONCE);
    const next = result.hasMore ? (result.found.at(-1)?.record.id ?? null) : null;
    const deliveries = decodeAll(deliveryType, result, this.#context.workspaceId);
    return { deliveries, damaged: result.found.length - deliveries.length, next };
  }

  async *pages(list: string): AsyncGenerator<DeliveryPage, void, undefined> {
    for (let after: string | null = ""; after !== null; ) {
      const page: DeliveryPage = await this.page(list, after || null);
      yield page;
      after = page.next;
    }
  }
}
