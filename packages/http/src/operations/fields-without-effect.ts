import { metadataField, type OperationName } from "@latchkey/core";
import { z } from "zod";

const environment = z.string({ error: "must be a string" }).optional();
const flag = z.boolean({ error: "must be true or false" });

const RESOURCES_ERROR = "must be a list of at most 100 resources";

/**
 * Fields that the contract has and latchkey does not use, by operation: older clients send them. They are checked like any other field, so
 * that a client learns of a mistake, and then dropped.
 */
const FIELDS: Readonly<Partial<Record<OperationName, z.ZodRawShape>>> = {
  createIdentity: { environment },
  listIdentities: { environment },
  updateIdentity: { environment },
  listKeys: { revalidateKeysCache: flag.nullish() },
  deleteKey: { permanent: flag.default(false) },
  limit: {
    async: flag.optional(),
    meta: (metadataField as z.ZodType).optional(),
    resources: z
      .array(z.record(z.string(), z.unknown()), { error: RESOURCES_ERROR })
      .max(100, { error: RESOURCES_ERROR })
      .optional(),
  },
};

/** The schema of an input, extended by its fields without effect. */
export function withFieldsWithoutEffect(operation: OperationName, input: z.ZodType): z.ZodType {
  const fields = FIELDS[operation];
  return fields === undefined ? input : (input as z.ZodObject).safeExtend(fields);
}

/** An input without these fields, as core accepts it. */
export function withoutEffectless(operation: OperationName, input: unknown): unknown {
  const fields = FIELDS[operation];
  if (fields === undefined || typeof input !== "object" || input === null) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(fields, name)));
}
