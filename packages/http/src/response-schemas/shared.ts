import { z } from "zod";

/** Schemas that the document defines once, under a name, and references wherever they occur. */
export const SHARED = z.registry<{ readonly id: string }>();

/** Gives a schema its name in the document: unique, with an upper-case first letter. */
export function shared<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  SHARED.add(schema, { id });
  return schema;
}

/** A list of frozen items, as core returns them. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** A whole number of `min` or more. */
export function whole(min = 0) {
  return z.int().min(min);
}

/** Unix epoch ms. */
export const instant = whole();

/** Free-form metadata: a JSON object. */
export const metadata = z.record(z.string(), z.unknown());

/** A success without a value. */
export const empty = shared("Empty", z.strictObject({}));

/** Fields of every page besides its items: the cursor of the next page, and the number of damaged records left out. */
export const pageInfo = { cursor: z.string().optional(), damaged: whole(1).optional() };

/** Fields of a page of a list whose size is known. */
export const pageEnd = { total: whole(), ...pageInfo };
