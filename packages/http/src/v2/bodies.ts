import { z } from "zod";
import { listOf, shared, whole } from "../response-schemas/shared.js";

/** The beginning of every response. */
export const meta = shared("Meta", z.strictObject({ requestId: z.string() }));

const pagination = shared(
  "Pagination",
  z.strictObject({
    cursor: z.string().optional(),
    hasMore: z.boolean().describe("Whether there is a next page."),
    damaged: whole(1).optional(),
  }),
);

/** Body of a success: `{ meta, data }`. */
export function dataBody<Data extends z.ZodType>(data: Data) {
  return z.strictObject({ meta, data });
}

/** Body of one page of a list: `{ meta, data, pagination }`. */
export function pageBody<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ meta, data: listOf(item), pagination });
}

/** `pagination` for a page of core. */
export function paginationOf({
  cursor,
  damaged,
}: {
  readonly cursor?: string | undefined;
  readonly damaged?: number | undefined;
}) {
  return { cursor, hasMore: cursor !== undefined, damaged };
}
