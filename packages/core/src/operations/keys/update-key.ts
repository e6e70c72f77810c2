import { type AuditFields, changesNothing } from "../../audit/entry.js";
import { type KeyRecord, keyType } from "../../records/key.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { configuredWindow } from "../../verification/window-name.js";
import { withCheckedMeta } from "../checked-meta.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { readStored, withoutReadableRecord } from "../damaged.js";
import { parseInput } from "../input.js";
import type { Run } from "../operation.js";
import { References } from "../references.js";
import { expiryIssues } from "../time-input.js";
import { refuseUsageChange } from "../uses-and-refill.js";
import { keyFields, linksOf } from "./audit-fields.js";
import { type GrantItem, grantLabels } from "./grant-input.js";
import { readKey } from "./load.js";
import type { KeyOperations } from "./operations.js";
import { type KeyUpdatePlan, ownerAfter, planKeyUpdate } from "./plan-update.js";
import { type KeyUpdate, updateKeyInput } from "./settings.js";

export const updateKey: Run<KeyOperations["updateKey"]> = async (context, input) => {
  const now = context.now();
  const parsed = parseInput(updateKeyInput, input, (raw) => expiryIssues(raw, now));
  const { keyId, ...wanted } = await withCheckedMeta(context.keyMeta, parsed);
  const change = () => changeKey(context, keyId, (loaded) => withoutThoseOfRoles(loaded, wanted));
  if (switchesOffOnly(wanted))
    await withoutReadableRecord(change, () => disableDamagedKey(context, keyId));
  else await change();
  return {};
};

/** The update without the names of permissions that the key has through roles alone, where it keeps all its roles. */
function withoutThoseOfRoles(loaded: LoadedKey, update: KeyUpdate): KeyUpdate {
  const { direct, permissions } = loaded;
  const given = new Set<GrantItem>(update.roles ?? loaded.roles);
  if (!update.permissions || !loaded.roles.every((name) => given.has(name))) return update;
  const throughRoles = new Set<GrantItem>(permissions);
  for (const { name } of direct.permissions) throughRoles.delete(name);
  return { ...update, permissions: update.permissions.filter((item) => !throughRoles.has(item)) };
}

/** Whether `enabled: false` is the whole update. */
function switchesOffOnly({ enabled, ...others }: KeyUpdate): boolean {
  return enabled === false && Object.values(others).every((value) => value === undefined);
}

/**
 * Changes a key in one transaction, on what it is at that moment.
 *
 * @param decide - The update of the key as it is; asked again when the key has changed meanwhile. Where it changes
 * nothing, nothing is written.
 * @throws LatchkeyError as updateKey says.
 */
export async function changeKey(
  context: OperationContext,
  keyId: string,
  decide: (loaded: LoadedKey) => KeyUpdate,
): Promise<void> {
  await transact(context, async (work) => {
    const { transaction, audit } = work;
    const loaded = await readKey(context, transaction, keyId);
    const update = decide(loaded);
    const now = context.now();
    const plan = planKeyUpdate(loaded, update, now);
    const references = new References(work, now);
    const owner = ownerAfter(update);
    if (typeof owner === "string") references.needIdentity(owner);
    references.needGrants("role", update.roles ?? []);
    references.needGrants("permission", update.permissions ?? []);
    await references.read();
    const { key } = loaded;
    const after: KeyRecord = {
      ...plan.key,
      identityId: identityAfter(key.identityId, owner, references),
      roles: update.roles ? references.grantIds("role", update.roles) : key.roles,
      permissions: update.permissions
        ? references.grantIds("permission", update.permissions)
        : key.permissions,
    };
    references.refuseMissing();
    const change = {
      type: "key.updated",
      at: now,
      resourceId: keyId,
      identityId: typeof owner === "string" ? after.identityId : (loaded.identity?.id ?? null),
      ...changedFields(loaded, update, plan, after),
    } as const;
    if (changesNothing(change) && !plan.restartsRefills) return;
    transaction.update(keyType, key, after, plan.keepsVersion);
    if (plan.usage !== undefined || plan.setsLimits)
      transaction.changeCounters(
        {
          kind: "key",
          id: keyId,
          usage: plan.usage,
          keepWindows: plan.setsLimits ? after.ratelimits.map(configuredWindow) : undefined,
        },
        (reason) => refuseUsageChange(reason, "remaining"),
      );
    audit(change);
  });
}

/**
 * Switches off a key whose record, API or identity is damaged: that must not need a readable record. What can be read of it
 * is kept, and every process reads it again.
 */
async function disableDamagedKey(context: OperationContext, keyId: string): Promise<void> {
  await transact(context, async ({ transaction, audit }) => {
    const record = await readStored(transaction, { kind: "key", id: keyId });
    if (record === null) throw notFound("key");
    const { body, link: identityId } = record;
    const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
    transaction.putAnew({ ...record, body: isObject ? { ...body, disabled: true } : null });
    const after = { enabled: false };
    audit({ type: "key.updated", resourceId: keyId, identityId, unreadable: true, after });
  });
}

function identityAfter(
  before: string | null,
  owner: string | null | undefined,
  references: References,
): string | null {
  if (owner === undefined) return before;
  return owner === null ? null : references.identityId(owner);
}

function changedFields(
  loaded: LoadedKey,
  update: KeyUpdate,
  plan: KeyUpdatePlan,
  after: KeyRecord,
): { readonly before: AuditFields; readonly after: AuditFields } {
  const { roles, permissions, remaining } = update;
  const { direct } = loaded;
  // No update seals a secret, or lets go of it.
  const links = linksOf(loaded);
  const owner = ownerAfter(update);
  return {
    before: keyFields(loaded.key, {
      ...links,
      // As it was when this was decided: verifications move it without an entry.
      remaining: remaining === undefined ? undefined : plan.remainingBefore,
      roles: roles && links.roles,
      permissions: permissions && links.permissions,
    }),
    after: keyFields(after, {
      ...links,
      externalId: owner === undefined ? links.externalId : owner,
      remaining,
      roles: roles && grantLabels(roles, direct.roles),
      permissions: permissions && grantLabels(permissions, direct.permissions),
    }),
  };
}
