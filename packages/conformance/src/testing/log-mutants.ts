import {
  type ChangeLog,
  type CountSubject,
  type HourCount,
  type KeyStore,
  NO_CHANGES,
} from "@latchkey/core";
import { anApi, OTHER_WORKSPACE, WORKSPACE } from "../fixtures.js";
import { elsewhere, type Mutant, withMethods } from "./mutant.js";

/** Writes a log by itself, beside a record that nobody asks for. */
async function writeLog(store: KeyStore, workspaceId: string, log: ChangeLog): Promise<void> {
  if (log.length === 0) return;
  const api = anApi(7_777, { workspaceId: `${workspaceId}_log` });
  await store.insertApi(api, log);
}

/** A permission made anew gets the id of the one of its name that was deleted. */
function revive(store: KeyStore): Partial<KeyStore> {
  const deleted = new Map<string, string>();
  return {
    async deletePermission(workspaceId, permissionId, log) {
      const permission = await store.getPermission(workspaceId, permissionId);
      if (permission !== null) deleted.set(`${workspaceId} ${permission.name}`, permissionId);
      return store.deletePermission(workspaceId, permissionId, log);
    },
    insertPermission(permission, log) {
      const known = deleted.get(`${permission.workspaceId} ${permission.name}`);
      return store.insertPermission({ ...permission, id: known ?? permission.id }, log);
    },
  };
}

/** Mistakes in the audit log, in counting verifications, and in deleting what others hold. */
export const LOG_MUTANTS: readonly Mutant[] = [
  {
    mistake: "logs an update that was refused",
    plant: (store) =>
      withMethods(store, {
        async updateKey(workspaceId, keyId, expectedVersion, patch, log) {
          await writeLog(store, workspaceId, log);
          return store.updateKey(workspaceId, keyId, expectedVersion, patch, NO_CHANGES);
        },
      }),
    noticedBy: [
      "updateKey leaves its log when it writes, and nothing when it does not",
      "of many racers that change one key the one that did leaves its entry",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "forgets to log deletions",
    plant: (store) =>
      withMethods(store, {
        deleteIdentity: (workspaceId, id) => store.deleteIdentity(workspaceId, id, NO_CHANGES),
      }),
    noticedBy: [
      "deleteIdentity leaves its log when it writes, and nothing when it does not",
      "what was deleted stays in the audit log",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "logs what was to be made on demand although it was there",
    plant: (store) =>
      withMethods(store, {
        insertKeys: (newKeys, log) =>
          store.insertKeys(
            newKeys,
            log.map((entry) => ({ ...entry, ifCreated: false })),
          ),
      }),
    noticedBy: [
      "what is made on demand is logged where it was made, and not where it was there before",
      "of many racers that make one identity on demand one logs that it did",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "logs the identity that was to be made and not the one that was linked",
    plant: (store) => {
      const meant = new Map<string, string | null>();
      return withMethods(store, {
        insertKeys(newKeys, log) {
          for (const { change } of log) meant.set(change.id, change.identityId);
          return store.insertKeys(newKeys, log);
        },
        async listChanges(workspaceId, filter, page) {
          const answer = await store.listChanges(workspaceId, filter, page);
          const items = answer.items.map((change) => {
            const identityId = meant.get(change.id);
            return identityId === undefined ? change : { ...change, identityId };
          });
          return { ...answer, items };
        },
      });
    },
    noticedBy: [
      "an entry names the identity that was linked, where it names one to be made on demand",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "logs every key of an API that it was asked to delete a few of",
    plant: (store) =>
      withMethods(store, {
        async deleteKeys(workspaceId, apiId, limit, deletedAt, entryOf) {
          const page = { afterId: null, limit: 100 };
          const { items } = await store.listKeys(workspaceId, apiId, { identityId: null }, page);
          const call = [workspaceId, apiId, limit, deletedAt] as const;
          const answer = await store.deleteKeys(...call, entryOf);
          const rest = items.filter(({ key }) => !answer.deleted.includes(key.id));
          if (entryOf !== null)
            await writeLog(
              store,
              workspaceId,
              rest.map(({ key }) => entryOf(key.id)),
            );
          return answer;
        },
      }),
    noticedBy: ["each key deleted of an API leaves its own entry, and no other does"],
    isNoticedByModel: true,
  },
  {
    mistake: "lists the oldest entry of the audit log first",
    plant: (store) =>
      withMethods(store, {
        async listChanges(...asked) {
          const answer = await store.listChanges(...asked);
          return { ...answer, items: answer.items.toReversed() };
        },
      }),
    noticedBy: ["the audit log lists the latest entry first, whatever the order of writing"],
    isNoticedByModel: true,
  },
  {
    mistake: "sets counts of verifications instead of adding to them",
    plant: (store) => {
      const counts = new Map<string, HourCount>();
      const nameOf = (workspaceId: string, { kind, id }: CountSubject) =>
        JSON.stringify([workspaceId, kind, id]);
      return withMethods(store, {
        async addVerifications(workspaceId, batch) {
          for (const { subject, ...count } of batch.counts) {
            const name = `${nameOf(workspaceId, subject)} ${count.hourAt} ${count.code}`;
            counts.set(name, count);
          }
          return store.addVerifications(workspaceId, batch);
        },
        async getVerifications(workspaceId, subject, startAt, endAt) {
          const real = await store.getVerifications(workspaceId, subject, startAt, endAt);
          return real.map((count) => {
            const name = `${nameOf(workspaceId, subject)} ${count.hourAt} ${count.code}`;
            return counts.get(name) ?? count;
          });
        },
      });
    },
    noticedBy: [
      "counts are added to what was counted before, by whichever process",
      "of many who add at once no count is lost",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "answers the hour at the end of a range too",
    plant: (store) =>
      withMethods(store, {
        getVerifications: (workspaceId, subject, startAt, endAt) =>
          store.getVerifications(workspaceId, subject, startAt, endAt + 1),
      }),
    noticedBy: ["hours are answered from the start, included, to the end, not included"],
    isNoticedByModel: true,
  },
  {
    mistake: "lets the latest use of a key go back",
    plant: (store) => {
      const told = new Map<string, number>();
      return withMethods(store, {
        addVerifications(workspaceId, batch) {
          for (const { keyId, usedAt } of batch.lastUsed)
            told.set(`${workspaceId} ${keyId}`, usedAt);
          return store.addVerifications(workspaceId, batch);
        },
        async getKey(workspaceId, keyId) {
          const loaded = await store.getKey(workspaceId, keyId);
          const lastUsedAt = told.get(`${workspaceId} ${keyId}`) ?? null;
          return loaded && { ...loaded, lastUsedAt };
        },
      });
    },
    noticedBy: ["the latest use of a key is shown wherever the key is read, and never goes back"],
    isNoticedByModel: true,
  },
  {
    mistake: "gives a permission back to its old holders when it is made anew",
    plant: (store) => withMethods(store, revive(store)),
    noticedBy: [
      "a permission made anew under the same name is held by none of the old one's holders",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "links the keys of a deleted identity to a new one of its external id",
    plant: (store) => {
      const ids = new Map<string, string>();
      return withMethods(store, {
        insertIdentity(identity, usage, log) {
          const name = `${identity.workspaceId} ${identity.externalId}`;
          const id = ids.get(name) ?? identity.id;
          return store.insertIdentity({ ...identity, id }, usage, log);
        },
        async deleteIdentity(workspaceId, identityId, log) {
          const found = await store.getIdentity(workspaceId, { identityId });
          if (found !== null) ids.set(`${workspaceId} ${found.identity.externalId}`, identityId);
          return store.deleteIdentity(workspaceId, identityId, log);
        },
      });
    },
    noticedBy: [
      "an identity made anew under the same external id has none of the old one's keys and counters",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "leaves the epoch when a role is deleted",
    plant: (store) => {
      let lag = 0;
      const lowered = async (workspaceId: string) => {
        const workspace = await store.getWorkspace(workspaceId);
        return { ...workspace, epoch: workspace.epoch - lag };
      };
      return withMethods(store, {
        async deleteRole(workspaceId, roleId, log) {
          const { epoch } = await store.getWorkspace(workspaceId);
          const answer = await store.deleteRole(workspaceId, roleId, log);
          lag += (await store.getWorkspace(workspaceId)).epoch - epoch;
          return answer;
        },
        getWorkspace: lowered,
        async getKey(workspaceId, keyId) {
          const loaded = await store.getKey(workspaceId, keyId);
          return loaded && { ...loaded, workspace: await lowered(workspaceId) };
        },
        charge: (plan) =>
          store.charge({ ...plan, expects: { ...plan.expects, epoch: plan.expects.epoch + lag } }),
      });
    },
    noticedBy: ["no charge on what was read before a role was deleted goes through"],
    isNoticedByModel: true,
  },
  {
    mistake: "sets the permissions of a role whatever version is expected",
    plant: (store) =>
      withMethods(store, {
        async setRolePermissions(workspaceId, roleId, expectedVersion, permissions, log) {
          const found = await store.getRole(workspaceId, roleId);
          const version = found?.role.version ?? expectedVersion;
          return store.setRolePermissions(workspaceId, roleId, version, permissions, log);
        },
      }),
    noticedBy: [
      "permissions of a role set on another version, or of none, are refused and write nothing",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "looks at the version of an API and writes a moment later",
    plant: (store) =>
      withMethods(store, {
        async updateApi(workspaceId, apiId, expectedVersion, patch, log) {
          const api = await store.getApi(workspaceId, apiId);
          if (api === null) return "not-found";
          if (api.version !== expectedVersion) return "stale";
          await elsewhere();
          const { version = expectedVersion } = (await store.getApi(workspaceId, apiId)) ?? {};
          return store.updateApi(workspaceId, apiId, version, patch, log);
        },
      }),
    noticedBy: ["of many racers that update one version of an API exactly one wins"],
    isNoticedByModel: false,
  },
  {
    mistake: "deletes a protected API",
    plant: (store) =>
      withMethods(store, {
        async deleteApi(workspaceId, apiId, log) {
          const { version = 1 } = (await store.getApi(workspaceId, apiId)) ?? {};
          const patch = { deleteProtection: false };
          await store.updateApi(workspaceId, apiId, version, patch, NO_CHANGES);
          return store.deleteApi(workspaceId, apiId, log);
        },
      }),
    noticedBy: [
      "a protected API is not deleted, nor are its keys, until the protection is taken away",
      "an API written with protection is protected",
      "deleteApi leaves its log when it writes, and nothing when it does not",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "lists root keys of every workspace",
    plant: (store) =>
      withMethods(store, {
        async listRootKeys(workspaceId, page) {
          const answer = await store.listRootKeys(workspaceId, page);
          if (answer.items.length > 0) return answer;
          return store.listRootKeys(workspaceId === WORKSPACE ? OTHER_WORKSPACE : WORKSPACE, page);
        },
      }),
    noticedBy: [
      "a key is not rotated, and an identity and a root key not deleted, from another workspace",
    ],
    isNoticedByModel: true,
  },
];
