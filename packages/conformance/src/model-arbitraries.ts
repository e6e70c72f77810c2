import type {
  ApiPatch,
  DueRefill,
  IdentityPatch,
  IdentityRateLimit,
  KeyPatch,
  KeyRateLimit,
  Metadata,
  RateLimit,
  Refill,
  Usage,
  UsageChange,
} from "@latchkey/core";
import fc from "fast-check";
import { DAY_MS, NOW, OTHER_WORKSPACE, WORKSPACE } from "./fixtures.js";

/** The workspaces that steps play in. */
export const WORKSPACES: readonly string[] = [WORKSPACE, OTHER_WORKSPACE];

/** Small worlds: few enough names that steps meet each other's. */
export const workspace = fc.nat({ max: 1 });

/** Null, and now and then a value. */
export function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ arbitrary: fc.constant(null), weight: 5 }, { arbitrary, weight: 1 });
}

/** Points at one of the things that exist when the step is run, or at nothing. */
export const pick = fc.nat({ max: 30 });

/** Mostly the expected version, sometimes the one before or after. */
export const versionOffset = fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1);

export const externalId = fc.constantFrom("ann", "bob", "Ann", "eve ");

export const durationMs = fc.constantFrom(1_000, 60_000);

/** Configured limits have other names than those that requests make up: a store may keep the two kinds apart. */
const configuredName = fc.constantFrom("default", "a", "b");
const adHocName = fc.constantFrom("x", "y", "x 1000");

const limits: fc.Arbitrary<readonly IdentityRateLimit[]> = fc.uniqueArray(
  fc.record({
    name: configuredName,
    limit: fc.integer({ min: 1, max: 6 }),
    durationMs,
    autoApply: fc.boolean(),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const keyLimits: fc.Arbitrary<readonly KeyRateLimit[]> = limits.map((list) =>
  list.map((limit) => ({ ...limit, type: "consistent", async: false })),
);

export const adHocLimits: fc.Arbitrary<readonly RateLimit[]> = fc.uniqueArray(
  fc.record({ name: adHocName, limit: fc.integer({ min: 1, max: 6 }), durationMs }),
  { selector: ({ name, durationMs: length }) => `${name}/${length}`, maxLength: 2 },
);

const metadata: fc.Arbitrary<Metadata> = fc.dictionary(
  fc.constantFrom("a", "b", "plan"),
  fc.constantFrom(null, 1, "two", true, ["three"], { four: 4 }),
  { maxKeys: 2 },
);

export const usage: fc.Arbitrary<Usage> = fc.record({
  remaining: fc.option(fc.nat({ max: 12 }), { freq: 4 }),
  refilledAt: fc.integer({ min: NOW - DAY_MS, max: NOW }),
});

/** Owed or settled, relative to the instant of the step. */
export const refillOffset = fc.option(
  fc.record({ amount: fc.integer({ min: 1, max: 15 }), agoMs: fc.nat({ max: DAY_MS }) }),
);

export type RefillOffset = { readonly amount: number; readonly agoMs: number } | null;

export function dueAt(refill: RefillOffset, now: number): DueRefill | null {
  return refill === null ? null : { amount: refill.amount, dueAt: now - refill.agoMs };
}

const operation: fc.Arbitrary<UsageChange["operation"]> = fc.oneof(
  fc.constant({ kind: "keep" } as const),
  fc.record({ kind: fc.constant("set" as const), remaining: fc.option(fc.nat({ max: 12 })) }),
  fc.record({
    kind: fc.constantFrom("increment" as const, "decrement" as const),
    by: fc.nat({ max: 9 }),
  }),
  fc.constant({ kind: "increment", by: Number.MAX_SAFE_INTEGER } as const),
);

export const usageChange = fc.record({ operation, refill: refillOffset });

/** A change of uses as the port takes it. */
export function usageChangeAt(
  { operation, refill }: { operation: UsageChange["operation"]; refill: RefillOffset },
  now: number,
): UsageChange {
  return { operation, due: dueAt(refill, now), settledAt: now };
}

/** One of a few names, each of which goes with one id, so that an id and a name can mean the same. */
function referenceTo(kinds: readonly ("name" | "id" | "create")[]) {
  return fc.record({ index: fc.nat({ max: 3 }), by: fc.constantFrom(...kinds) });
}

export type Reference = { readonly index: number; readonly by: "name" | "id" | "create" };

function grantsBy(kinds: readonly ("name" | "id" | "create")[]) {
  const roles = fc.array(referenceTo(kinds), { maxLength: 3 });
  const permissions = fc.array(referenceTo(kinds), { maxLength: 4 });
  return fc.record({ roles, permissions }, { requiredKeys: [] });
}

/** References of which some may be missing. */
export const anyGrants = grantsBy(["name", "id", "create", "create"]);

/** References that are never missing. */
export const sureGrants = grantsBy(["create"]);

export const permissionReferences = fc.array(referenceTo(["name", "id", "create"]), {
  maxLength: 3,
});

const refill: fc.Arbitrary<Refill> = fc.constantFrom(
  { interval: "daily", amount: 3 } as const,
  { interval: "monthly", amount: 4, refillDay: 31 } as const,
);

/** Fields of a patch that are plain values; the rest follows from what exists when the step is run. */
export const keyFields: fc.Arbitrary<KeyPatch> = fc.record(
  {
    name: fc.option(fc.constantFrom("one", "two")),
    meta: fc.option(metadata),
    expiresAt: fc.option(fc.constantFrom(NOW, NOW + 5)),
    switchedOn: fc.boolean(),
    refill: fc.option(refill),
    ratelimits: keyLimits,
    environment: fc.option(fc.constant("live")),
    usesFrom: fc.constantFrom("key", "identity"),
    sealedSecret: fc.option(fc.constant("v1.c2VhbGVk")),
    updatedAt: fc.constantFrom(NOW + 1, NOW + 2),
  },
  { requiredKeys: [] },
);

/** Never without a field: whether the version rises then, the port does not say. */
export const identityFields: fc.Arbitrary<IdentityPatch> = fc
  .record({ meta: metadata, ratelimits: limits, refill: fc.option(refill) }, { requiredKeys: [] })
  .filter((fields) => Object.keys(fields).length > 0);

export const apiPatch: fc.Arbitrary<ApiPatch> = fc
  .record(
    {
      name: fc.constantFrom("one", "two"),
      deleteProtection: fc.boolean(),
      ipWhitelist: fc.constantFrom([], ["10.0.0.0/8", "::1/128"]),
    },
    { requiredKeys: [] },
  )
  .filter((fields) => Object.keys(fields).length > 0);

/** Pages of a few items, after one of the items that exist. */
export const page = fc.record({ after: fc.option(pick), limit: fc.integer({ min: 1, max: 4 }) });
