import type {
  DueRefill,
  GrantReference,
  Grants,
  IdentityPatch,
  KeyPatch,
  KeyRateLimit,
  Metadata,
  RateLimit,
  Usage,
  UsageChange,
} from "@latchkey/core";
import fc from "fast-check";
import {
  aPermission,
  aRole,
  byId,
  DAY_MS,
  NOW,
  named,
  OTHER_WORKSPACE,
  orCreate,
  WORKSPACE,
} from "./fixtures.js";

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

const durationMs = fc.constantFrom(1_000, 60_000);

/** Configured limits have other names than those that requests make up: a store may keep the two kinds apart. */
const configuredName = fc.constantFrom("default", "a", "b");
const adHocName = fc.constantFrom("x", "y", "x 1000");

export const limits: fc.Arbitrary<readonly RateLimit[]> = fc.uniqueArray(
  fc.record({ name: configuredName, limit: fc.integer({ min: 1, max: 6 }), durationMs }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const keyLimits: fc.Arbitrary<readonly KeyRateLimit[]> = limits.map((list) =>
  list.map((limit) => ({ ...limit, type: "consistent", async: false })),
);

export const adHocLimits: fc.Arbitrary<readonly RateLimit[]> = fc.uniqueArray(
  fc.record({ name: adHocName, limit: fc.integer({ min: 1, max: 6 }), durationMs }),
  { selector: ({ name, durationMs: length }) => `${name}/${length}`, maxLength: 2 },
);

export const metadata: fc.Arbitrary<Metadata> = fc.dictionary(
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

/** One of a few names, each of which goes with one id, so that an id and a name can mean the same. */
function referenceTo(kinds: readonly ("name" | "id" | "create")[]) {
  return fc.record({ index: fc.nat({ max: 3 }), by: fc.constantFrom(...kinds) });
}

type Reference = { readonly index: number; readonly by: "name" | "id" | "create" };

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

/** The permission of an index in a workspace. */
export function permissionAt(index: number, workspace: number) {
  const workspaceId = WORKSPACES[workspace] as string;
  return aPermission(`perm${index}`, index + 10 * workspace, { workspaceId });
}

/** The role of an index in a workspace. */
export function roleAt(index: number, workspace: number) {
  const workspaceId = WORKSPACES[workspace] as string;
  return aRole(`role${index}`, index + 10 * workspace, { workspaceId });
}

/** References as the port takes them. */
export function referencesIn<Definition extends { readonly id: string; readonly name: string }>(
  references: readonly Reference[],
  define: (index: number) => Definition,
): readonly GrantReference<Definition>[] {
  return references.map(({ index, by }) => {
    const definition = define(index);
    if (by === "create") return orCreate(definition);
    return by === "id" ? byId(definition.id) : named(definition.name);
  });
}

/** Grants as the port takes them. */
export function grantsIn(
  workspace: number,
  {
    roles,
    permissions,
  }: { readonly roles?: readonly Reference[]; readonly permissions?: readonly Reference[] },
): Grants {
  return {
    roles: roles && referencesIn(roles, (index) => roleAt(index, workspace)),
    permissions:
      permissions && referencesIn(permissions, (index) => permissionAt(index, workspace)),
  };
}

/** Fields of a patch that are plain values; the rest follows from what exists when the step is run. */
export const keyFields: fc.Arbitrary<KeyPatch> = fc.record(
  {
    name: fc.option(fc.constantFrom("one", "two")),
    meta: fc.option(metadata),
    expiresAt: fc.option(fc.constantFrom(NOW, NOW + 5)),
    switchedOn: fc.boolean(),
    refill: fc.option(
      fc.constantFrom(
        { interval: "daily", amount: 3 } as const,
        { interval: "monthly", amount: 4, refillDay: 31 } as const,
      ),
    ),
    ratelimits: keyLimits,
    environment: fc.option(fc.constant("live")),
    sealedSecret: fc.option(fc.constant("v1.c2VhbGVk")),
    updatedAt: fc.constantFrom(NOW + 1, NOW + 2),
  },
  { requiredKeys: [] },
);

export const identityPatch: fc.Arbitrary<IdentityPatch> = fc.record(
  { meta: metadata, ratelimits: limits },
  { requiredKeys: [] },
);
