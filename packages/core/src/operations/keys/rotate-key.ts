import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import type { LoggedChange } from "../../records/audit-entry.js";
import type { KeyRecord, LoadedKey } from "../../records/key.js";
import { decideRotation } from "../../rules/rotation.js";
import { secretForm } from "../../secrets/form.js";
import { formatSecret, secretStart } from "../../secrets/format.js";
import type { EpochMs } from "../../time.js";
import { notFound, type OperationContext, requireVault, untilFresh } from "../context.js";
import { id, parseInput, wholeNumber } from "../input.js";
import { keyFacts } from "./audit-fields.js";
import type { CreatedKey } from "./build.js";
import type { Rotation } from "./write.js";

/** A year: a longer grace is no rotation. */
const MAX_GRACE_MS = 365 * 86_400_000;

/** Input of rotateKey. `graceMs`: how long the old secret goes on, 0 to a year in ms, 0 unless given. */
export const rotateKeyInput = z.strictObject({
  keyId: id,
  graceMs: wholeNumber(0, MAX_GRACE_MS).default(0),
});

/** For whom a rotation is done. */
export interface RotationScope {
  /** Asked before the secret of a recoverable key is sealed for its successor; throws where the caller may not have that. */
  readonly beforeSealing?: (apiId: string) => void;
}

/**
 * Puts a key with a new secret in the place of one: another id, the same settings, and the same counters, which the two
 * share for as long as both live. The old key lives until `graceMs` from now or until its own expiry, whichever comes first,
 * and is dead at that instant; the successor keeps the old expiry. The successor of a key that is switched off is switched
 * off too.
 *
 * The new secret has the prefix and the number of random bytes of the old one. Of a key that was imported only the
 * beginning that is stored can tell: what stands before its last `_` is the prefix, and the length is that of createKey.
 *
 * A key has one successor: of any number of racers one gets it.
 *
 * @throws LatchkeyError `NOT_FOUND`; `CONFLICT` for a key that was rotated before; `PRECONDITION_FAILED` for a key that has
 * expired, and for a recoverable one without a vault. Nothing is written then.
 */
export async function rotateKey(
  context: OperationContext,
  input: z.input<typeof rotateKeyInput>,
  scope: RotationScope = {},
): Promise<CreatedKey> {
  const { keyId, graceMs } = parseInput(rotateKeyInput, input);
  const { store, workspaceId } = context;
  return untilFresh(async () => {
    const loaded = await store.getKey(workspaceId, keyId);
    if (loaded === null) throw notFound("key");
    const now = context.now();
    if (loaded.key.sealedSecret !== null) scope.beforeSealing?.(loaded.key.apiId);
    const expiresAt = oldExpiry(loaded.key, graceMs, now);
    const { successor, secret } = successorOf(context, loaded.key, now);
    const rotation: Rotation = { successor, expiresAt, updatedAt: now };
    const changes = describeRotation(context, loaded, rotation);
    const { version } = loaded.key;
    const outcome = await store.rotateKey(
      workspaceId,
      keyId,
      version,
      rotation,
      toLog(context, changes),
    );
    switch (outcome) {
      case "rotated":
        announce(context, changes);
        return { keyId: successor.id, key: secret };
      case "stale":
        return "stale";
      case "not-found":
        throw notFound("key");
      case "hash-taken":
        throw new LatchkeyError(
          "INTERNAL_SERVER_ERROR",
          '"random" repeated itself; no key was issued',
        );
      default:
        return outcome satisfies never;
    }
  });
}

function oldExpiry(key: KeyRecord, graceMs: number, now: EpochMs): EpochMs {
  const decision = decideRotation(key, graceMs, now);
  switch (decision.kind) {
    case "rotate":
      return decision.expiresAt;
    case "rotated-before":
      throw new LatchkeyError("CONFLICT", "this key was rotated before: rotate its successor");
    case "expired":
      throw new LatchkeyError(
        "PRECONDITION_FAILED",
        "this key has expired: give it another expiry before it is rotated",
      );
    default:
      return decision satisfies never;
  }
}

function successorOf(
  context: OperationContext,
  old: KeyRecord,
  now: EpochMs,
): { readonly successor: Rotation["successor"]; readonly secret: string } {
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
      updatedAt: null,
      rotatedFrom: old.id,
      rotatedTo: null,
      countersId: old.countersId ?? old.id,
      sealedSecret: vault?.seal(secret, row) ?? null,
      version: 1,
    },
    secret,
  };
}

/** What is to be told of both keys. The uses are not among it: they are shared, and go on. */
function describeRotation(
  context: OperationContext,
  { key, identity, direct }: LoadedKey,
  { successor, expiresAt, updatedAt }: Rotation,
): readonly LoggedChange[] {
  const identityId = identity?.id ?? null;
  return [
    noteChange(context, {
      type: "key.rotated",
      at: updatedAt,
      resourceId: key.id,
      keyId: key.id,
      identityId,
      before: { expires: key.expiresAt },
      after: { rotatedTo: successor.id, expires: expiresAt },
    }),
    noteChange(context, {
      type: "key.created",
      at: updatedAt,
      resourceId: successor.id,
      keyId: successor.id,
      identityId,
      after: keyFacts(successor, {
        externalId: identity?.externalId,
        roles: direct.roles.map(({ name }) => name),
        permissions: direct.permissions.map(({ name }) => name),
      }),
    }),
  ];
}
