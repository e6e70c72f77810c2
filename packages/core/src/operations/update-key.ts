import { z } from "zod";
import { missingGrants, notFound, type OperationContext, untilFresh } from "../context.js";
import { badRequest, LatchkeyError } from "../errors.js";
import { newIdentity } from "../identity.js";
import {
  expiryIssues,
  externalId,
  flag,
  grantName,
  id,
  keyRatelimit,
  list,
  metadata,
  parseInput,
  refill,
  text,
  wholeNumber,
} from "../input.js";
import { fromWireKeyLimit, type LoadedKey } from "../key.js";
import { decideUpdate } from "../lifecycle.js";
import { dueRefill } from "../refill.js";
import type { GrantReference, Grants, KeyPatch } from "../store.js";
import { settleRefill, type UsageChange } from "../usage.js";
import { refuseUsageChange } from "../usage-refusal.js";

const GRANT_ERROR = "must be a name, or an object with id or name";

const grant = z.union(
  [
    grantName,
    z
      .strictObject({ id: id.optional(), name: grantName.optional(), create: flag.optional() })
      .refine(({ id, name }) => id !== undefined || name !== undefined, { error: GRANT_ERROR }),
  ],
  { error: GRANT_ERROR },
);

/**
 * Input of updateKey: an omitted field is left as it is, null clears it. `roles` and `permissions` replace the whole
 * set, an empty list clears it; an item names one by `id` or `name`, and with `create: true` a missing name is made in
 * the same write. `expires` in Unix epoch ms, later than now; `remaining` >= 0, null for unlimited, which also takes away
 * the refill. `enabled` is true or false, never null.
 */
export const updateKeyInput = z.strictObject({
  keyId: id,
  name: text(1, 256).nullish(),
  ownerId: externalId.nullish(),
  externalId: externalId.nullish(),
  meta: metadata.nullish(),
  expires: wholeNumber(1).nullish(),
  remaining: wholeNumber(0).nullish(),
  refill: refill.nullish(),
  ratelimit: keyRatelimit.nullish(),
  enabled: flag.optional(),
  environment: text(0, 256).nullish(),
  roles: list(grant, 100, "roles").optional(),
  permissions: list(grant, 1_000, "permissions").optional(),
});

type UpdateKey = z.output<typeof updateKeyInput>;

/**
 * Changes the configuration of a key in one atomic, guarded write. The next verification, from any process, sees it.
 *
 * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` when a role or permission does not exist, or when an
 * exhausted key is enabled without a new `remaining`; `BAD_REQUEST` for a refill of a key without `remaining`. Nothing
 * is written then.
 */
export async function updateKey(
  context: OperationContext,
  input: z.input<typeof updateKeyInput>,
): Promise<Record<string, never>> {
  const now = context.now();
  const parsed = parseInput(updateKeyInput, input, (raw) => expiryIssues(raw, now));
  const { keyId, ...changes } = parsed;
  const isChange = Object.values(changes).some((value) => value !== undefined);
  return untilFresh(async () => {
    const loaded = await context.store.getKey(context.workspaceId, keyId);
    if (loaded === null) throw notFound("key");
    if (!isChange) return {};
    const patch = patchOf(context, loaded, parsed, context.now());
    const result = await context.store.updateKey(
      context.workspaceId,
      keyId,
      loaded.key.version,
      patch,
    );
    switch (result.kind) {
      case "updated":
        return {};
      case "stale":
        return "stale";
      case "not-found":
        throw notFound("key");
      case "missing-grants":
        throw missingGrants(result);
      case "usage-refused":
        throw refuseUsageChange(result.reason, "remaining");
      default:
        return result satisfies never;
    }
  });
}

function patchOf(
  context: OperationContext,
  loaded: LoadedKey,
  wanted: UpdateKey,
  now: number,
): KeyPatch {
  const { key } = loaded;
  const remaining = settleRefill(loaded.usage, dueRefill(key.refill, now)).remaining;
  const transition = decideUpdate(
    { switchedOn: key.switchedOn, expiresAt: key.expiresAt, remaining },
    { enabled: wanted.enabled, expiresAt: wanted.expires, remaining: wanted.remaining },
    now,
  );
  if (transition.kind === "refuse-exhausted") {
    throw new LatchkeyError(
      "PRECONDITION_FAILED",
      "a key without uses left cannot be enabled: set remaining above 0",
    );
  }
  const remainingAfter = wanted.remaining === undefined ? remaining : wanted.remaining;
  if (remainingAfter === null && wanted.refill !== undefined && wanted.refill !== null) {
    throw badRequest([{ path: "refill", message: "needs remaining" }]);
  }
  const owner = wanted.externalId === undefined ? wanted.ownerId : wanted.externalId;
  const refillAfter = remainingAfter === null && key.refill !== null ? null : wanted.refill;
  return {
    name: wanted.name,
    identity:
      typeof owner === "string"
        ? newIdentity(context.newId("id"), context.workspaceId, owner, now)
        : owner,
    meta: wanted.meta,
    expiresAt: transition.expiresAt === key.expiresAt ? undefined : transition.expiresAt,
    switchedOn: wanted.enabled,
    refill: refillAfter,
    ratelimits:
      wanted.ratelimit === null ? [] : wanted.ratelimit && [fromWireKeyLimit(wanted.ratelimit)],
    environment: wanted.environment,
    usage: usageChangeOf(loaded, wanted, now),
    grants: grantsOf(context, wanted, now),
    updatedAt: now,
  };
}

/** A new `remaining` or `refill` starts from here: what fell due before is settled by the rule that held then. */
function usageChangeOf(
  { key }: LoadedKey,
  wanted: UpdateKey,
  now: number,
): UsageChange | undefined {
  if (wanted.remaining === undefined && wanted.refill === undefined) return undefined;
  return {
    due: dueRefill(key.refill, now),
    operation:
      wanted.remaining === undefined
        ? { kind: "keep" }
        : { kind: "set", remaining: wanted.remaining },
    settledAt: now,
  };
}

function grantsOf(
  context: OperationContext,
  { roles, permissions }: UpdateKey,
  now: number,
): Grants | undefined {
  if (roles === undefined && permissions === undefined) return undefined;
  const { workspaceId } = context;
  const references = (kind: "role" | "perm", items: typeof roles) =>
    items?.map((item): GrantReference<Parameters<typeof context.store.insertPermission>[0]> => {
      const { id, name, create } =
        typeof item === "string" ? { id: undefined, name: item, create: false } : item;
      if (id !== undefined) return { kind: "id", id };
      const named = name as string;
      const definition = {
        id: context.newId(kind),
        workspaceId,
        name: named,
        description: null,
        createdAt: now,
      };
      return { kind: "name", name: named, orCreate: create === true ? definition : null };
    });
  return { roles: references("role", roles), permissions: references("perm", permissions) };
}
