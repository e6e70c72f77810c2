import { DEFAULT_WORKSPACE_ID, type KeyStore, type Latchkey } from "@latchkey/core";

/** Texts of one owner. After the erasure, none of them may be found anywhere. */
export const THEIRS = {
  externalId: "subject-7f3a9c21-external",
  keyName: "subject-name-of-a-key",
  laterName: "subject-later-name-of-a-key",
  ownerlessName: "subject-name-before-the-owner",
  meta: "subject-metadata-of-a-key",
  tag: "subject-tag-of-a-key",
  environment: "subject-environment",
  identityMeta: "subject-metadata-of-an-identity",
  laterMeta: "subject-later-metadata",
} as const;

/** Texts of another owner, which stay. */
export const OTHERS = {
  externalId: "neighbour-2b84d7e0-external",
  keyName: "neighbour-name-of-a-key",
} as const;

/** Ids and secrets of everything that {@link liveLife} creates. */
export interface Life {
  readonly apiId: string;
  /** Identities that had the `externalId`, the latest last. */
  readonly identityIds: readonly string[];
  /** Keys that are deleted with their owner. */
  readonly keyIds: readonly string[];
  /** The secrets of these keys. */
  readonly secrets: readonly string[];
  /** Keys that stay: one that was given to the other owner, and one of the other owner's own. */
  readonly kept: readonly string[];
}

/** Creates a full history: two identities of one name, and keys that are updated, rotated, moved, deleted and left without an owner. */
export async function liveLife(latchkey: Latchkey): Promise<Life> {
  const { externalId } = THEIRS;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { apiId: otherId } = await latchkey.createApi({ name: "harbour gates" });
  const meta = { note: THEIRS.identityMeta };
  const first = await latchkey.createIdentity({ externalId, meta });
  const settings = { name: THEIRS.keyName, meta: { note: THEIRS.meta }, tags: [THEIRS.tag] };
  const environment = THEIRS.environment;
  const kept = await latchkey.createKey({ apiId, externalId, ...settings, environment });
  const rotated = await latchkey.createKey({ apiId: otherId, externalId, ...settings });
  const next = await latchkey.rotateKey({ keyId: rotated.keyId, graceMs: 3_600_000 });
  await latchkey.updateKey({ keyId: next.keyId, name: THEIRS.laterName });
  const deleted = await latchkey.createKey({ apiId, externalId, ...settings });
  await latchkey.verifyKey({ key: deleted.key, requestId: "one" });
  await latchkey.deleteKey({ keyId: deleted.keyId });
  const adopted = await latchkey.createKey({ apiId, name: THEIRS.ownerlessName });
  await latchkey.updateKey({ keyId: adopted.keyId, externalId });
  const moved = await latchkey.createKey({ apiId, externalId, name: "moved" });
  await latchkey.updateKey({ keyId: moved.keyId, externalId: OTHERS.externalId });
  await latchkey.deleteIdentity({ identityId: first.identityId });
  // Keys of the first identity stay without an owner. The next one is a new identity.
  const again = await latchkey.createIdentity({ externalId, meta });
  const { identityId } = again;
  const later = { note: THEIRS.laterMeta };
  await latchkey.updateIdentity({ identityId, meta: later, idempotencyKey: "later" });
  const last = await latchkey.createKey({ apiId, externalId, ...settings });
  await latchkey.actingAs(externalId).updateKey({ keyId: last.keyId, name: THEIRS.laterName });
  await latchkey.verifyKey({ key: last.key, requestId: "two", tags: [THEIRS.tag] });
  const neighbour = { externalId: OTHERS.externalId, name: OTHERS.keyName };
  const others = await latchkey.createKey({ apiId, ...neighbour });
  const theirs = [kept, rotated, next, deleted, adopted, last];
  return {
    apiId,
    identityIds: [first.identityId, again.identityId],
    keyIds: theirs.map(({ keyId }) => keyId),
    secrets: theirs.map(({ key }) => key),
    kept: [moved.key, others.key],
  };
}

/** Number of sums that a store has for the verifications of these keys. */
export async function sumsOf(store: KeyStore, life: Life): Promise<number> {
  const subjects = [
    ...life.keyIds.map((id) => ({ kind: "key", id }) as const),
    ...life.identityIds.map((id) => ({ kind: "identity", id }) as const),
  ];
  const range = { startAt: 0, endAt: Date.UTC(9_999, 0, 1) };
  let count = 0;
  for (const subject of subjects)
    count += (await store.readStatistics(DEFAULT_WORKSPACE_ID, { subject, ...range })).length;
  return count;
}
