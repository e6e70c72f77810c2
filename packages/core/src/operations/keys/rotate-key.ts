import { z } from "zod";
import { conflict, unmet } from "../../errors.js";
import { identityType } from "../../records/identity.js";
import { chainCreatedAt, type KeyRecord, keyType } from "../../records/key.js";
import { aboveCeiling, givenByLimits } from "../../rules/keys/ceilings.js";
import { idleExpiresAt, isExpired } from "../../rules/keys/lifecycle.js";
import { decideRotation, type RotationDecision } from "../../rules/keys/rotation.js";
import { formatSecret } from "../../secrets/format.js";
import { secretForm, secretStart } from "../../secrets/shown-start.js";
import type { EpochMs, SpanMs } from "../../time.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { aboveCeilingError, keyRulesOf } from "../apis/key-rules.js";
import { type OperationContext, randomRepeated, requireVault, type Work } from "../context.js";
import { id } from "../input.js";
import { write } from "../operation.js";
import { readRecordIn } from "../read.js";
import { grace } from "../time-input.js";
import { linksOf, wholeKeyFields } from "./audit-fields.js";
import { readKey } from "./load.js";
import type { CreatedKey, RotationScope } from "./operations.js";
import { boundRotated } from "./owner-places.js";

const rotateKeyInput = z.strictObject({ keyId: id, graceMs: grace });

export const rotateKey = write(
  rotateKeyInput,
  async (work, { keyId, graceMs }, scope: RotationScope = {}) => {
    const loaded = await readKey(work.context, work.transaction, keyId);
    if (loaded.key.sealedSecret !== null) scope.beforeSealing?.(loaded.key.apiId);
    return rotateLoaded(work, loaded, graceMs);
  },
);

/**
 * Rotates a key that was read in this transaction. Throws like rotateKey. `graceMs`: as of {@link decideRotation}. `given`: settings of the
 * new key that replace the old one's.
 */
export async function rotateLoaded(
  work: Work,
  loaded: LoadedKey,
  graceMs: SpanMs | null,
  given: Partial<Pick<KeyRecord, "ratelimits">> = {},
): Promise<CreatedKey> {
  const { context, transaction, audit } = work;
  const { key, api, identity } = loaded;
  const now = context.now();
  const expires = oldExpiry("key", rotationOf(loaded, graceMs, now));
  // Rewrites the identity: a transaction that counts the owner's keys must not miss both the old and the new one.
  const { ceilings } = keyRulesOf(api);
  const counted = context.confinedTo?.maxKeys ?? ceilings?.maxKeysPerIdentity;
  if (identity !== null && counted !== undefined) {
    const { value } = await readRecordIn(transaction, identityType, identity.id);
    transaction.update(identityType, value, value);
    await boundRotated(work, identity.id, expires);
  }
  const after = { ...key, ...given };
  const above =
    ceilings && aboveCeiling(ceilings, givenByLimits(key.ratelimits, after.ratelimits), now);
  if (above !== null) throw aboveCeilingError(above);
  const { successor, secret } = successorOf(context, after, now);
  const { id: rotatedTo, sharedCountersId } = successor;
  const rotated = { ...key, rotatedTo, sharedCountersId, expires, updatedAt: now };
  transaction.update(keyType, key, rotated);
  transaction.insert(keyType, successor, {
    counters: { sharedWith: key.id },
    onTaken: () => randomRepeated("no key was issued"),
  });
  auditRotation(audit, loaded, successor, expires, now);
  return { keyId: rotatedTo, key: secret };
}

/** Whether a key can be rotated, and when the old one then dies. */
export function rotationOf(
  { key, lastUsedAt }: LoadedKey,
  graceMs: SpanMs | null,
  now: EpochMs,
): RotationDecision {
  const isIdle = isExpired(idleExpiresAt(key, lastUsedAt), now);
  const { rotatedTo } = key;
  return decideRotation(isIdle ? { expires: now, rotatedTo } : key, graceMs, now);
}

/** When the rotated key expires. @throws LatchkeyError `CONFLICT` if it was rotated before, `PRECONDITION_FAILED` if it has expired. */
export function oldExpiry(what: "key" | "root key", decision: RotationDecision): EpochMs {
  switch (decision.kind) {
    case "rotate":
      return decision.expires;
    case "rotated-before":
      throw conflict("key-rotated", `this ${what} was already rotated: rotate its successor`);
    case "expired":
      throw unmet(
        "key-expired",
        `this ${what} has expired: give it a later expiry before you rotate it`,
      );
    default:
      return decision satisfies never;
  }
}

function successorOf(context: OperationContext, old: KeyRecord, now: EpochMs) {
  const row = { workspaceId: context.workspaceId, keyId: context.newId("key") };
  const vault = old.sealedSecret === null ? null : requireVault(context);
  const { prefix, byteLength } = secretForm(old.start);
  const secret = formatSecret(prefix, context.random(byteLength));
  return {
    successor: {
      ...old,
      id: row.keyId,
      hash: context.hasher.hash(secret),
      start: secretStart(secret),
      createdAt: now,
      idleFrom: null,
      updatedAt: null,
      rotatedFrom: old.id,
      rotatedTo: null,
      sharedCountersId: old.sharedCountersId ?? old.id,
      chainCreatedAt: chainCreatedAt(old),
      sealedSecret: vault?.seal(secret, row) ?? null,
      importMarks: [],
      version: 1,
    },
    secret,
  };
}

/** Neither entry has the uses: both keys share them, and they continue. */
function auditRotation(
  audit: Work["audit"],
  loaded: LoadedKey,
  successor: KeyRecord,
  expires: EpochMs,
  at: EpochMs,
): void {
  const { key, identity } = loaded;
  const identityId = identity?.id ?? null;
  audit({
    type: "key.rotated",
    at,
    resourceId: key.id,
    identityId,
    before: { expires: key.expires },
    after: { rotatedTo: successor.id, expires },
  });
  // The new secret is sealed if the old one was.
  const after = wholeKeyFields(successor, linksOf(loaded));
  audit({ type: "key.created", at, resourceId: successor.id, identityId, after });
}
