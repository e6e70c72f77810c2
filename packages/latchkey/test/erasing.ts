import { DEFAULT_WORKSPACE_ID, type KeyStore, type Latchkey } from "@latchkey/core";

/** Texts of somebody, none of which may be anywhere once they are erased. */
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

/** Somebody else, of whom everything stays. */
export const OTHERS = {
  externalId: "neighbour-2b84d7e0-external",
  keyName: "neighbour-name-of-a-key",
} as const;

/** What is left of a life. */
export interface Life {
  readonly apiId: string;
  /** Identities that had the `externalId`, the latest last. */
  readonly identityIds: readonly string[];
  /** Keys that go with their owner. */
  readonly keyIds: readonly string[];
  /** Secrets of these. */
  readonly secrets: readonly string[];
  /** A key that was given to somebody else, and a key of theirs. */
  readonly kept: readonly string[];
}

/** A life with everything in it: two identities of one name, keys that are updated, rotated, moved, deleted and left without an owner. */
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
  // Keys of the first one live on without an owner; what follows is another identity.
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

/** How many sums a store holds of how often their keys were verified. */
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
