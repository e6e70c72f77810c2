import type { KeyPatch, KeyRateLimit, KeyRecord, NewKey } from "@latchkey/core";

/**
 * Longest value, in bytes, that is kept in the record of a key. Redis keeps a hash of short values in one compact
 * piece of memory, and a hash with a single longer one in a table that takes about three times as much.
 */
export const LONGEST_SHORT_VALUE = 64;

/** Name and value, in turn. */
export type FieldList = readonly string[];

/** All fields of a new key that are not links; those without a value are left out. */
export function newKeyFields({ key, usage }: NewKey): FieldList {
  const fields = {
    remaining: usage.remaining === null ? null : String(usage.remaining),
    refilledAt: String(usage.refilledAt),
    ...configurationOf(key),
    start: key.start,
    createdAt: String(key.createdAt),
  };
  return Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [name, value]));
}

/** The fields that a patch gives, as update-key.lua takes them: "" removes, "=" precedes any other value. */
export function patchedFields(patch: KeyPatch): FieldList {
  return Object.entries(configurationOf(patch)).flatMap(([name, value]) => [
    name,
    value === null ? "" : `=${value}`,
  ]);
}

/** Counters and the instant of the change are no configuration. A field that is given counts as changed. */
export function hasConfiguration({
  usage: _usage,
  updatedAt: _updatedAt,
  ...fields
}: KeyPatch): boolean {
  return Object.values(fields).some((field) => field !== undefined);
}

type Configuration = { readonly updatedAt?: number | null | undefined } & Pick<
  KeyPatch,
  | "name"
  | "meta"
  | "expiresAt"
  | "switchedOn"
  | "refill"
  | "ratelimits"
  | "environment"
  | "sealedSecret"
>;

/** What is given, under the names it has in Redis; null where it has no value. */
function configurationOf(given: Configuration): Readonly<Record<string, string | null>> {
  const fields: Record<string, string | null> = {};
  if (given.name !== undefined) fields.name = given.name;
  if (given.meta !== undefined) fields.meta = given.meta && JSON.stringify(given.meta);
  if (given.updatedAt !== undefined) fields.updatedAt = numeral(given.updatedAt);
  if (given.expiresAt !== undefined) fields.expiresAt = numeral(given.expiresAt);
  if (given.switchedOn !== undefined) fields.on = given.switchedOn ? "1" : "0";
  if (given.refill !== undefined) fields.refill = encodeRefill(given.refill);
  if (given.ratelimits !== undefined) fields.limits = encodeKeyLimits(given.ratelimits);
  if (given.environment !== undefined) fields.environment = given.environment;
  if (given.sealedSecret !== undefined) fields.sealed = given.sealedSecret;
  return fields;
}

function numeral(value: number | null): string | null {
  return value === null ? null : String(value);
}

function encodeRefill(refill: KeyRecord["refill"]): string | null {
  if (refill === null) return null;
  const { interval, amount } = refill;
  return JSON.stringify(
    interval === "monthly" ? [interval, amount, refill.refillDay] : [interval, amount],
  );
}

function encodeKeyLimits(limits: readonly KeyRateLimit[]): string | null {
  if (limits.length === 0) return null;
  return JSON.stringify(
    limits.map(({ name, limit, durationMs, type, async: isAsync }) => [
      name,
      limit,
      durationMs,
      type,
      isAsync,
    ]),
  );
}
