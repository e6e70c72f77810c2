import type { KeyPatch, KeyRecord, NewKey, Rotation } from "@latchkey/core";
import { encodeKeyLimits, encodeRefill } from "./limits.js";

/**
 * Longest value, in bytes, that is kept in the record of a key. Redis keeps a hash of short values in one compact
 * piece of memory, and a hash with a single longer one in a table that takes about three times as much.
 */
export const LONGEST_SHORT_VALUE = 64;

/** Name and value, in turn. */
export type FieldList = readonly string[];

/** All fields of a new key that are not links; those without a value are left out. */
export function newKeyFields({ key, usage }: Pick<NewKey, "key" | "usage">): FieldList {
  const { remaining, refilledAt } = usage;
  return present({
    remaining: numeral(remaining),
    refilledAt: String(refilledAt),
    ...recordFields(key),
  });
}

/** The same of a key that shares the counters of the one before it. */
export function successorFields(successor: Rotation["successor"]): FieldList {
  return present(recordFields(successor));
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

type Fields = Readonly<Record<string, string | null>>;

type Configuration = { readonly updatedAt?: number | null | undefined } & Pick<
  KeyPatch,
  | "name"
  | "meta"
  | "expiresAt"
  | "switchedOn"
  | "refill"
  | "ratelimits"
  | "environment"
  | "usesFrom"
  | "sealedSecret"
>;

/** What is given, under the names it has in Redis; null where it has no value. */
function configurationOf(given: Configuration): Fields {
  const fields: Record<string, string | null> = {};
  if (given.name !== undefined) fields.name = given.name;
  if (given.meta !== undefined) fields.meta = given.meta && JSON.stringify(given.meta);
  if (given.updatedAt !== undefined) fields.updatedAt = numeral(given.updatedAt);
  if (given.expiresAt !== undefined) fields.expiresAt = numeral(given.expiresAt);
  if (given.switchedOn !== undefined) fields.on = given.switchedOn ? "1" : "0";
  if (given.refill !== undefined) fields.refill = given.refill && encodeRefill(given.refill);
  if (given.ratelimits !== undefined) {
    fields.limits = given.ratelimits.length === 0 ? null : encodeKeyLimits(given.ratelimits);
  }
  if (given.usesFrom !== undefined) fields.usesFrom = given.usesFrom === "key" ? null : "identity";
  if (given.environment !== undefined) fields.environment = given.environment;
  if (given.sealedSecret !== undefined) fields.sealed = given.sealedSecret;
  return fields;
}

function numeral(value: number | null): string | null {
  return value === null ? null : String(value);
}

function recordFields(key: KeyRecord): Fields {
  return {
    ...configurationOf(key),
    start: key.start,
    createdAt: String(key.createdAt),
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
  };
}

function present(fields: Fields): FieldList {
  return Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [name, value]));
}
