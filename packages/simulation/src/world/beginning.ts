import type { Latchkey } from "@latchkey/core";
import type { KeySetup } from "../history.js";
import type { WorkspaceSetup } from "../plan/plan.js";

/** A workspace, as it is when the schedule begins. */
export interface KnownWorkspace {
  readonly id: string;
  readonly apiId: string;
  readonly roleId: string;
  readonly identityIds: readonly string[];
}

/** Creates a workspace. */
export async function createWorkspace(
  latchkey: Latchkey,
  { identities, limit = null, refill = null }: WorkspaceSetup,
): Promise<KnownWorkspace> {
  const { apiId } = await latchkey.createApi({ name: "payments" });
  for (const name of ["read", "write", "docs.*"]) await latchkey.createPermission({ name });
  const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["read"] });
  const identityIds: string[] = [];
  for (const [place, remaining] of identities.entries()) {
    const { identityId } = await latchkey.createIdentity({
      externalId: `user_${place}`,
      ...(remaining !== null && { remaining, ...(refill !== null && { refill }) }),
      ...(limit !== null && { ratelimits: [{ name: "shared", autoApply: true, ...limit }] }),
    });
    identityIds.push(identityId);
  }
  return { id: latchkey.workspaceId, apiId, roleId, identityIds };
}

/** A key as the call that made it returns it. A repeat of the call returns no secret. */
export interface MadeKey {
  readonly keyId: string;
  readonly key?: string | undefined;
}

/** Creates a key according to a setup. */
export function createKey(
  latchkey: Latchkey,
  apiId: string,
  { remaining, refill, limit, slots, identity, usesFrom, hasRole }: KeySetup,
  idempotencyKey: string | undefined,
): Promise<MadeKey> {
  const hasUses = remaining !== null && usesFrom === "key";
  return latchkey.createKey({
    apiId,
    ...(hasUses && { remaining }),
    ...(hasUses && refill !== null && { refill }),
    ...(limit !== null && { ratelimit: limit }),
    ...(slots !== null && {
      ratelimits: [
        { name: "parallel", algorithm: "concurrent" as const, autoApply: true, ...slots },
      ],
    }),
    ...(identity !== null && { externalId: `user_${identity}`, usesFrom }),
    ...(hasRole && { roles: ["reader"] }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}
