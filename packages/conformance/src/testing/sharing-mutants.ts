import type { KeyStore, NewKey } from "@latchkey/core";
import { NO_CHANGES } from "@latchkey/core";
import { elsewhere, type Mutant, withMethods } from "./mutant.js";

/** Sets the own uses of a key, whatever its version. */
async function setUses(
  store: KeyStore,
  workspaceId: string,
  keyId: string,
  remaining: number | null,
): Promise<void> {
  const loaded = await store.getKey(workspaceId, keyId);
  if (loaded === null) return;
  const usage = { due: null, operation: { kind: "set", remaining }, settledAt: 0 } as const;
  await store.updateKey(workspaceId, keyId, loaded.key.version, { usage }, NO_CHANGES);
}

/** Writes the successor as a key of its own, with what is left to the old one at this moment. */
async function rotateByCopying(
  store: KeyStore,
  ...[workspaceId, keyId, expectedVersion, rotation, log]: Parameters<KeyStore["rotateKey"]>
): ReturnType<KeyStore["rotateKey"]> {
  const old = await store.getKey(workspaceId, keyId);
  if (old === null) return "not-found";
  const { expiresAt, updatedAt } = rotation;
  const patch = { expiresAt, updatedAt };
  const { kind } = await store.updateKey(workspaceId, keyId, expectedVersion, patch, log);
  if (kind !== "updated") return "stale";
  const grants = {
    roles: old.direct.roles.map(({ id }) => ({ kind: "id", id }) as const),
    permissions: old.direct.permissions.map(({ id }) => ({ kind: "id", id }) as const),
  };
  const key = { ...rotation.successor, countersId: null };
  const newKey = { key, usage: old.usage, identity: null, grants };
  const inserted = await store.insertKeys([newKey], NO_CHANGES);
  return inserted.kind === "inserted" ? "rotated" : "hash-taken";
}

/** Mistakes with what several keys share: counters after a rotation, and the uses of an identity. */
export const SHARING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "copies the counters when a key is rotated",
    plant: (store) =>
      withMethods(store, {
        rotateKey: (workspaceId, keyId, expectedVersion, rotation, log) =>
          rotateByCopying(store, workspaceId, keyId, expectedVersion, rotation, log),
      }),
    noticedBy: [
      "of many parallel uses of both keys exactly as many are taken as are left",
      "of many parallel charges of both keys exactly as many go through as a limit allows",
      "what the old key used is used for its successor, and the other way round",
      "a refill that is owed to a rotated key is settled once for both",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "rotates a key whatever version is expected",
    plant: (store) =>
      withMethods(store, {
        async rotateKey(workspaceId, keyId, expectedVersion, rotation, log) {
          const { key } = (await store.getKey(workspaceId, keyId)) ?? {};
          const version = key?.version ?? expectedVersion;
          return store.rotateKey(workspaceId, keyId, version, rotation, log);
        },
      }),
    noticedBy: [
      "a rotation that expects another version is stale, and of a key that is gone not found",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "leaves a successor without the roles and permissions of the old key",
    plant: (store) =>
      withMethods(store, {
        async rotateKey(workspaceId, keyId, expectedVersion, rotation, log) {
          const call = [workspaceId, keyId, expectedVersion, rotation, log] as const;
          const answer = await store.rotateKey(...call);
          if (answer !== "rotated") return answer;
          const grants = { roles: [], permissions: [] };
          const { id, version } = rotation.successor;
          await store.updateKey(workspaceId, id, version, { grants }, NO_CHANGES);
          return answer;
        },
      }),
    noticedBy: ["a successor has the settings, the identity and the grants of the old key"],
    isNoticedByModel: true,
  },
  {
    mistake: "forgets shared counters with the first key that is deleted",
    plant: (store) =>
      withMethods(store, {
        async deleteKey(workspaceId, keyId, removal, log) {
          const loaded = await store.getKey(workspaceId, keyId);
          const answer = await store.deleteKey(workspaceId, keyId, removal, log);
          const { rotatedTo, rotatedFrom } = loaded?.key ?? {};
          for (const sharer of [rotatedTo, rotatedFrom]) {
            if (sharer) await setUses(store, workspaceId, sharer, 0);
          }
          return answer;
        },
      }),
    noticedBy: [
      "deleting the old key leaves the other its counters",
      "deleting the successor leaves the other its counters",
      "the keys of a chain of rotations share one counter, also when the first is gone",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "draws the uses of an identity from the key",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, usesFrom: "key" }) }),
    noticedBy: [
      "a key that draws from its identity takes the identity's uses and none of its own",
      "of many parallel uses of all keys of an identity exactly as many are taken as are left",
      "a key that draws from an identity and has none has no uses",
      "a repeated request of a key that draws from its identity takes nothing again",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "reads the uses of an identity and writes them a moment later",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const { identityId, workspaceId } = plan;
          if (plan.usesFrom === "key" || identityId === null || plan.limits.length > 0)
            return store.charge(plan);
          const look = await store.charge({ ...plan, mode: "look", request: undefined });
          await elsewhere();
          if (look.kind !== "charged" || look.remaining === null) return look;
          const found = await store.getIdentity(workspaceId, { identityId });
          const { version = 1 } = found?.identity ?? {};
          const operation = { kind: "set", remaining: look.remaining } as const;
          const usage = { due: null, operation, settledAt: plan.refill?.dueAt ?? 0 };
          await store.updateIdentity(workspaceId, identityId, version, { usage }, NO_CHANGES);
          return look;
        },
      }),
    noticedBy: [
      "of many parallel uses of all keys of an identity exactly as many are taken as are left",
      "a refill that is owed to an identity is settled once, whichever keys find it at once",
      "uses of an identity added while its keys take them all count",
    ],
    isNoticedByModel: false,
  },
  {
    mistake: "raises the version of an identity when only its uses change",
    plant: (store) =>
      withMethods(store, {
        async updateIdentity(workspaceId, identityId, expectedVersion, patch, log) {
          const found = await store.getIdentity(workspaceId, { identityId });
          const refill = patch.refill === undefined ? found?.identity.refill : patch.refill;
          const wider = { ...patch, refill };
          return store.updateIdentity(workspaceId, identityId, expectedVersion, wider, log);
        },
      }),
    noticedBy: ["uses of an identity can be set, added and taken away, and the version stays"],
    isNoticedByModel: true,
  },
  {
    mistake: "lends a charge of a deleted identity the last version that it had",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          if (loaded === null || loaded.identity !== null) return store.charge(plan);
          return store.charge({ ...plan, expects: { ...plan.expects, identityVersion: null } });
        },
      }),
    noticedBy: ["no charge on what was read before an identity was deleted goes through"],
    isNoticedByModel: true,
  },
  {
    mistake: "inserts many keys one after the other until one is refused",
    plant: (store) =>
      withMethods(store, {
        async insertKeys(newKeys, log) {
          const created: string[] = [];
          for (const [index, newKey] of newKeys.entries()) {
            const result = await store.insertKeys([newKey], index === 0 ? log : NO_CHANGES);
            if (result.kind === "missing-grants") return result;
            if (result.kind !== "inserted") return { ...result, index };
            created.push(...result.created);
          }
          return { kind: "inserted", created };
        },
      }),
    noticedBy: [
      "of many keys none is written where one of them has an API that does not exist",
      "of many keys none is written where one of them has a hash that is taken",
      "of many keys none is written where one of them has the hash of an earlier one of the same call",
      "of many keys none is written where one of them has a missing role",
      "what is missing is named for all keys together, each once, in the order asked",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "makes an identity for each of many keys that name it",
    plant: (store) =>
      withMethods(store, {
        insertKeys(newKeys, log) {
          const apart = newKeys.map((newKey, index): NewKey => {
            const { identity } = newKey;
            if (identity === null || index === 0) return newKey;
            const externalId = `${identity.externalId}${"\u200b".repeat(index)}`;
            return { ...newKey, identity: { ...identity, externalId } };
          });
          return store.insertKeys(apart, log);
        },
      }),
    noticedBy: [
      "what keys of one call ask for on demand is made once and shared, and said to be made",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "counts a limit of no key by its namespace alone",
    plant: (store) =>
      withMethods(store, {
        takeFromNamespace: (plan) => store.takeFromNamespace({ ...plan, identifier: "" }),
      }),
    noticedBy: [
      "limits of no key that differ in workspace, namespace, identifier or duration count apart",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "looks at a limit of no key and takes from it a moment later",
    plant: (store) =>
      withMethods(store, {
        async takeFromNamespace(plan) {
          const look = await store.takeFromNamespace({ ...plan, cost: 0 });
          const used = look.window.used + plan.cost;
          if (used > plan.limit) return { ...look, kind: "refuse" };
          await elsewhere();
          await store.takeFromNamespace({ ...plan, limit: Number.MAX_SAFE_INTEGER });
          return { kind: "admit", window: { ...look.window, used } };
        },
      }),
    noticedBy: [
      "of many parallel takings from a limit of no key exactly as many go through as it allows",
    ],
    isNoticedByModel: false,
  },
];
