import { type AuditFields, changesNothing } from "../../audit/entry.js";
import { isCorruptRecord, LatchkeyError } from "../../errors.js";
import type { JsonValue } from "../../lib/json.js";
import { isObject } from "../../lib/own-fields.js";
import { type KeyRecord, keyType } from "../../records/key.js";
import type { StoredRecord } from "../../records/record-type.js";
import { aboveCeiling, givenByLimits } from "../../rules/keys/ceilings.js";
import type { EpochMs } from "../../time.js";
import { configuredWindow } from "../../verification/limit-precedence.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { aboveCeilingError, keyRulesOf } from "../apis/key-rules.js";
import { withCheckedMeta } from "../checked-meta.js";
import { type OperationContext, transact, type Work } from "../context.js";
import { operation } from "../operation.js";
import { References } from "../references.js";
import { expiryIssues } from "../time-input.js";
import { refuseUsageChange } from "../uses-and-refill.js";
import { keyFields, linksOf } from "./audit-fields.js";
import { refuseUncounted } from "./create-key.js";
import { type GrantItem, grantLabels, readGrantItem } from "./grant-input.js";
import { loadedOrThrow, readKeys } from "./load.js";
import { OwnerPlaces } from "./owner-places.js";
import { type KeyUpdatePlan, ownerAfter, planKeyUpdate } from "./plan-update.js";
import { type KeyUpdate, updateKeyInput, updateKeysInput } from "./settings.js";

export const updateKey = operation(
  updateKeyInput,
  (context, { keyId, ...update }) => updateEach(context, [keyId], update),
  { issuesAt: expiryIssues },
);

export const updateKeys = operation(
  updateKeysInput,
  (context, { keyIds, ...update }) => updateEach(context, keyIds, update, true),
  { issuesAt: expiryIssues },
);

async function updateEach(
  context: OperationContext,
  keyIds: readonly string[],
  update: KeyUpdate,
  isOfMany = false,
): Promise<Record<string, never>> {
  const wanted = await withCheckedMeta(context.keyMeta, update);
  refuseUncounted(context, wanted.expiresWhenUnused);
  return changeKeys(
    context,
    keyIds,
    (loaded) => withoutThoseOfRoles(loaded, wanted),
    { evenDamaged: switchesOffOnly(wanted), isOfMany },
    () => ({}),
  );
}

/** The update without names of permissions that the key has only through roles, if it keeps all its roles. */
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

/** Changes a key in one transaction. `decide`: called again if the key changed meanwhile. `answerOf`: gets the key before and after. */
export function changeKey<Answer>(
  context: OperationContext,
  keyId: string,
  decide: (loaded: LoadedKey, references: References) => KeyUpdate,
  answerOf: (changed: ChangedKey) => Answer,
): Promise<Answer> {
  // A missing or damaged key has thrown already.
  return changeKeys(context, [keyId], decide, {}, ([changed]) => answerOf(changed as ChangedKey));
}

/** A key before and after its change, and the names of its grants. */
export interface ChangedKey {
  readonly loaded: LoadedKey;
  readonly after: KeyRecord;
  readonly references: References;
}

/** Changes keys in one transaction: all of them or none. `evenDamaged`: a damaged key is switched off, which needs no readable record. */
async function changeKeys<Answer>(
  context: OperationContext,
  keyIds: readonly string[],
  decide: (loaded: LoadedKey, references: References) => KeyUpdate,
  how: {
    readonly evenDamaged?: boolean;
    /** Whether errors name the key that they are about. */
    readonly isOfMany?: boolean;
  },
  answerOf: (changed: readonly ChangedKey[]) => Answer,
): Promise<Answer> {
  const unique = [...new Set(keyIds)];
  const placeOf = (keyId: string): KeyPlace | null =>
    how.isOfMany ? { keyId, field: `keyIds.${keyIds.indexOf(keyId)}` } : null;
  return transact(context, async (work) => {
    const now = context.now();
    const references = new References(work, now);
    const planned: PlannedUpdate[] = [];
    for (const [index, read] of (await readKeys(context, work.transaction, unique)).entries())
      aboutKey(placeOf(unique[index] as string), () => {
        const { stored, loaded } = read;
        if (how.evenDamaged && stored !== null && isCorruptRecord(loaded))
          switchOffDamaged(work, stored.record);
        else planned.push(planUpdate(loadedOrThrow(read), decide, references, now));
      });
    await references.read(planned.some(wantsNames) || work.transaction.isRetry);
    const places = await OwnerPlaces.read(work, references, planned.flatMap(movedKey));
    const changed = planned.map((update): ChangedKey => {
      const { loaded } = update;
      const place = placeOf(loaded.key.id);
      const after = aboutKey(place, () =>
        writeUpdate(work, update, references, places, now, place),
      );
      return { loaded, after, references };
    });
    references.refuseMissing();
    return answerOf(changed);
  });
}

/** The part of an update that is known before its references are read. */
interface PlannedUpdate {
  readonly loaded: LoadedKey;
  readonly update: KeyUpdate;
  readonly plan: KeyUpdatePlan;
}

function planUpdate(
  loaded: LoadedKey,
  decide: (loaded: LoadedKey, references: References) => KeyUpdate,
  references: References,
  now: EpochMs,
): PlannedUpdate {
  const update = decide(loaded, references);
  const plan = planKeyUpdate(loaded, update, now);
  references.needOfKey(ownerAfter(update), update);
  return { loaded, update, plan };
}

/** @returns The key after the update. */
function writeUpdate(
  { transaction, audit }: Work,
  { loaded, update, plan }: PlannedUpdate,
  references: References,
  places: OwnerPlaces,
  now: EpochMs,
  place: KeyPlace | null,
): KeyRecord {
  const { key } = loaded;
  const owner = ownerAfter(update);
  const after: KeyRecord = {
    ...plan.key,
    uncountedTags: update.tags ? references.uncountedTags(update.tags) : plan.key.uncountedTags,
    identityId: owner === undefined ? key.identityId : owner && references.identityId(owner),
    roles: update.roles ? references.grantIds("role", update.roles) : key.roles,
    permissions: update.permissions
      ? references.grantIds("permission", update.permissions)
      : key.permissions,
  };
  refuseAboveCeilings(loaded, update, plan, after, references, now);
  if (after.identityId !== key.identityId)
    for (const { api, owner: to } of movedKey({ loaded, update, plan })) places.take(api, to);
  const change = {
    type: "key.updated",
    at: now,
    resourceId: key.id,
    identityId: typeof owner === "string" ? after.identityId : (loaded.identity?.id ?? null),
    ...changedFields(loaded, update, plan, after),
  } as const;
  if (changesNothing(change) && !plan.isMoreThanSet) return after;
  transaction.update(keyType, key, after, plan.keepsVersion);
  // The windows of removed limits are deleted, unless another key of the rotation shares the counters.
  const isForgetting = plan.setsLimits && key.sharedCountersId === null;
  if (plan.usage !== undefined || isForgetting)
    transaction.changeCounters(
      {
        kind: "key",
        id: key.id,
        usage: plan.usage,
        keepWindows: isForgetting ? after.ratelimits.map(configuredWindow) : undefined,
      },
      (reason) => aboutKeyError(place, refuseUsageChange(reason, "remaining")),
    );
  audit(change);
  return after;
}

/** Whether an update gives a key, by id, a grant that it does not hold: the name of such a grant is not known yet. */
function wantsNames({ loaded: { direct }, update }: PlannedUpdate): boolean {
  return (["roles", "permissions"] as const).some((field) =>
    update[field]?.some((item) => {
      const { label, isId } = readGrantItem(item);
      return isId && !direct[field].some(({ id }) => id === label);
    }),
  );
}

/** The new owner of a key, if it changes. A rotated key is counted by its successor. */
function movedKey({ loaded: { key, api, identity }, update }: PlannedUpdate) {
  const owner = ownerAfter(update);
  if (typeof owner !== "string" || key.rotatedTo !== null || owner === identity?.externalId)
    return [];
  return [{ api, owner }];
}

/** @throws LatchkeyError `PRECONDITION_FAILED` for a setting that newly exceeds a ceiling of the API. */
function refuseAboveCeilings(
  { key, api }: LoadedKey,
  update: KeyUpdate,
  { remainingBefore }: KeyUpdatePlan,
  after: KeyRecord,
  references: References,
  now: EpochMs,
): void {
  const { ceilings } = keyRulesOf(api);
  if (ceilings === null) return;
  const { permissions } = update;
  const remaining = update.remaining === undefined ? remainingBefore : update.remaining;
  const held = new Set(key.permissions);
  // The key's own uses take effect now, so they are checked, whenever they were set.
  const hasOwnNow = after.usesFrom === "key" && key.usesFrom !== "key";
  const isRefillNew = JSON.stringify(after.refill) !== JSON.stringify(key.refill);
  const above = aboveCeiling(
    ceilings,
    {
      ...(after.expires !== key.expires && { expires: after.expires }),
      ...((hasOwnNow || remaining !== remainingBefore) && { remaining }),
      ...(after.usesFrom !== key.usesFrom && { usesFrom: after.usesFrom }),
      ...((hasOwnNow || isRefillNew) && { refill: after.refill }),
      ...givenByLimits(key.ratelimits, after.ratelimits),
      ...(permissions !== undefined && {
        permissions: after.permissions
          .filter((id) => !held.has(id))
          .map((id) => references.grantName(id)),
      }),
    },
    now,
  );
  if (above !== null) throw aboveCeilingError(above);
}

/** The key that an error is about, of many: its id, and its place in the input. */
interface KeyPlace {
  readonly keyId: string;
  readonly field: string;
}

/** Runs a part that concerns one key. With a `place`, the error that it throws names the key. */
function aboutKey<Result>(place: KeyPlace | null, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw aboutKeyError(place, error as Error);
  }
}

function aboutKeyError(place: KeyPlace | null, error: Error): Error {
  if (place === null || !(error instanceof LatchkeyError)) return error;
  const { code, message, reason, details, issues } = error;
  return new LatchkeyError(code, `"${place.field}": ${message}`, {
    cause: error,
    issues,
    // The wrong setting wins, if there is one: an issue names it, or `details` of the error.
    details: { ...place, ...(issues[0] && { field: issues[0].path }), ...details },
    ...(reason !== undefined && { reason }),
  });
}

/** Switches a key on or off, and changes nothing else. */
export function switchKey(
  { context, transaction, audit }: Work,
  key: KeyRecord,
  enabled: boolean,
): void {
  const at = context.now();
  transaction.update(keyType, key, { ...key, enabled, updatedAt: at });
  audit({
    type: "key.updated",
    at,
    resourceId: key.id,
    identityId: key.identityId,
    before: { enabled: key.enabled },
    after: { enabled },
  });
}

/** Switches off a key whose record, API or identity is damaged. It keeps what can be read of it, and makes every process read it again. */
export function switchOffDamaged({ transaction, audit }: Work, record: StoredRecord): void {
  const { id: keyId, link: identityId } = record;
  transaction.putAnew({ ...record, body: { ...membersOf(record), disabled: true } });
  const after = { enabled: false };
  audit({ type: "key.updated", resourceId: keyId, identityId, unreadable: true, after });
}

/** Whether a record of a key says that it is switched off, as far as it can be read. */
export function isSwitchedOff(record: StoredRecord): boolean {
  return membersOf(record).disabled === true;
}

function membersOf({ body }: StoredRecord): Readonly<Record<string, JsonValue>> {
  return isObject(body) ? (body as Readonly<Record<string, JsonValue>>) : {};
}

function changedFields(
  loaded: LoadedKey,
  update: KeyUpdate,
  plan: KeyUpdatePlan,
  after: KeyRecord,
): { readonly before: AuditFields; readonly after: AuditFields } {
  const { roles, permissions, remaining } = update;
  const { direct } = loaded;
  // No update seals a secret or drops a sealed one.
  const links = linksOf(loaded);
  const owner = ownerAfter(update);
  return {
    before: keyFields(loaded.key, {
      ...links,
      // The value that this update was based on: verifications change it without an entry.
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
