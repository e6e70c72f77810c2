import { z } from "zod";
import { orRequired } from "../input.js";

/** Most roles and permissions that one call names: its write, one step on every store, stays short. */
const MAX_GRANTS = 10_000;

const SIZE_ERROR = orRequired("must be a list of 1 to 100 keys");

/** A list of 1 to 100 keys that name at most 10,000 roles and permissions in all. */
export function importList<Item extends z.ZodType>(item: Item) {
  return z
    .array(item, { error: SIZE_ERROR })
    .min(1, { error: SIZE_ERROR })
    .max(100, { error: SIZE_ERROR })
    .refine((imports) => grantsIn(imports) <= MAX_GRANTS, {
      error: `must not name more than ${MAX_GRANTS} roles and permissions in all`,
    });
}

function grantsIn(imports: readonly unknown[]): number {
  let count = 0;
  for (const imported of imports) {
    const { roles, permissions } = (imported ?? {}) as Readonly<Record<string, unknown>>;
    for (const names of [roles, permissions]) if (Array.isArray(names)) count += names.length;
  }
  return count;
}
