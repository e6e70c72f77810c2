import { z } from "zod";

/** Schemas that the document describes once, under a name of their own, and refers to from wherever they occur. */
export const SHARED = z.registry<{ readonly id: string }>();

/** Gives a schema its name in the document: an upper-case first letter, unique among all. */
export function shared<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  SHARED.add(schema, { id });
  return schema;
}

/** A list whose items nobody may change: what core answers is frozen. */
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

/** Success with nothing to say. */
export const empty = shared("Empty", z.strictObject({}));

/** What ends a list: the number of all there are, and what asks for the next page where there is one. */
export const pageEnd = { total: whole(), cursor: z.string().optional() };
