import { type LoadedKey, NO_CHANGES } from "@latchkey/core";
import { OTHER_WORKSPACE, UNLIMITED, WORKSPACE } from "../fixtures.js";
import { elsewhere, type Mutant, withMethods } from "./mutant.js";

/** Mistakes in keeping, finding and listing records. */
export const RECORD_MUTANTS: readonly Mutant[] = [
  {
    mistake: "looks at the version of a key and writes a moment later",
    plant: (store) =>
      withMethods(store, {
        async updateKey(workspaceId, keyId, expectedVersion, patch, log) {
          const loaded = await store.getKey(workspaceId, keyId);
          if (loaded === null) return { kind: "not-found" };
          if (loaded.key.version !== expectedVersion) return { kind: "stale" };
          await elsewhere();
          const { key = loaded.key } = (await store.getKey(workspaceId, keyId)) ?? {};
          return store.updateKey(workspaceId, keyId, key.version, patch, log);
        },
      }),
    noticedBy: [
      "of many racers that expect one version exactly one wins",
      "racers that try again when they are stale lose nothing",
    ],
    isNoticedByModel: false,
  },
  {
    mistake: "updates a key whatever version is expected",
    plant: (store) =>
      withMethods(store, {
        async updateKey(workspaceId, keyId, expectedVersion, patch, log) {
          const { key } = (await store.getKey(workspaceId, keyId)) ?? {};
          const version = key?.version ?? expectedVersion;
          return store.updateKey(workspaceId, keyId, version, patch, log);
        },
      }),
    noticedBy: ["an update that expects another version is stale and writes nothing"],
    isNoticedByModel: true,
  },
  {
    mistake: "raises the version when only uses change",
    plant: (store) =>
      withMethods(store, {
        async updateKey(workspaceId, keyId, expectedVersion, patch, log) {
          const { key } = (await store.getKey(workspaceId, keyId)) ?? {};
          const environment = patch.environment ?? key?.environment ?? null;
          const wider = { ...patch, environment };
          return store.updateKey(workspaceId, keyId, expectedVersion, wider, log);
        },
      }),
    noticedBy: [
      "the version stays when an update gives nothing but uses and the instant of the update",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "empties a set of roles or permissions that an update leaves out",
    plant: (store) =>
      withMethods(store, {
        updateKey(workspaceId, keyId, expectedVersion, { grants, ...patch }, log) {
          const both = grants && { roles: [], permissions: [], ...given(grants) };
          const wider = { ...patch, grants: both };
          return store.updateKey(workspaceId, keyId, expectedVersion, wider, log);
        },
      }),
    noticedBy: [
      "an update replaces the sets it gives, keeps those it leaves out, and empties one given empty",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "passes over an item between two pages",
    plant: (store) =>
      withMethods(store, {
        async listKeys(workspaceId, apiId, filter, page) {
          const answer = await store.listKeys(workspaceId, apiId, filter, page);
          return page.afterId === null ? answer : { ...answer, items: answer.items.slice(1) };
        },
      }),
    noticedBy: ["pages of any size list every key once, in ascending order of id"],
    isNoticedByModel: true,
  },
  {
    mistake: "says that more follow when the page is full",
    plant: (store) =>
      withMethods(store, {
        async listKeys(workspaceId, apiId, filter, page) {
          const answer = await store.listKeys(workspaceId, apiId, filter, page);
          return { ...answer, hasMore: answer.items.length === page.limit };
        },
      }),
    noticedBy: ["a page says that more follow only when more follow"],
    isNoticedByModel: true,
  },
  {
    mistake: "counts deleted keys",
    plant: (store) => {
      let deleted = 0;
      return withMethods(store, {
        async deleteKey(...call) {
          const answer = await store.deleteKey(...call);
          if (answer === "deleted") deleted += 1;
          return answer;
        },
        async listKeys(workspaceId, apiId, filter, page) {
          const answer = await store.listKeys(workspaceId, apiId, filter, page);
          return { ...answer, total: answer.total + deleted };
        },
      });
    },
    noticedBy: ["the total counts live keys only: not refused ones, not deleted ones"],
    isNoticedByModel: true,
  },
  {
    mistake: "writes the identity before it knows whether the key can be written",
    plant: (store) =>
      withMethods(store, {
        async insertKeys(newKeys, log) {
          for (const { identity } of newKeys) {
            if (identity !== null) await store.insertIdentity(identity, UNLIMITED, NO_CHANGES);
          }
          return store.insertKeys(newKeys, log);
        },
      }),
    noticedBy: [
      "a refused key leaves no identity behind",
      "a key with a hash that is taken is refused, and nothing of it is written",
      "a key of an API that does not exist is refused, and nothing of it is written",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "finds a key for a while after it was deleted",
    plant: (store) => {
      const found = new Map<string, LoadedKey>();
      return withMethods(store, {
        async findKey(hash, workspaceId) {
          const name = `${workspaceId} ${hash}`;
          const loaded = found.get(name) ?? (await store.findKey(hash, workspaceId));
          if (loaded !== null) found.set(name, loaded);
          return loaded;
        },
      });
    },
    noticedBy: [
      "a deleted key is found, listed, counted and charged no more, from any process",
      "a key's permissions taken away is seen at once: no charge on what was read before goes through",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "reads keys of every workspace",
    plant: (store) =>
      withMethods(store, {
        getKey: async (_workspaceId, keyId) =>
          (await store.getKey(WORKSPACE, keyId)) ?? store.getKey(OTHER_WORKSPACE, keyId),
      }),
    noticedBy: ["a key is not read, listed, updated, deleted or charged from another workspace"],
    isNoticedByModel: true,
  },
  {
    mistake: "leaves the epoch when a workspace is switched off",
    plant: (store) =>
      withMethods(store, {
        getKey: async (workspaceId, keyId) => {
          const loaded = await store.getKey(workspaceId, keyId);
          return loaded && { ...loaded, workspace: { ...loaded.workspace, epoch: 0 } };
        },
        charge: async (plan) => {
          const { epoch } = await store.getWorkspace(plan.workspaceId);
          return store.charge({ ...plan, expects: { ...plan.expects, epoch } });
        },
      }),
    noticedBy: [
      "a disabled workspace is seen at once: no charge on what was read before goes through",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "hands out what it keeps",
    plant: (store) => {
      const kept = new Map<string, LoadedKey>();
      return withMethods(store, {
        async getKey(workspaceId, keyId) {
          const loaded = await store.getKey(workspaceId, keyId);
          if (loaded === null) return null;
          const { handle, ...fields } = loaded;
          const name = `${keyId} ${loaded.key.version} ${loaded.usage.remaining}`;
          const known = kept.get(name) ?? structuredClone(fields);
          kept.set(name, known);
          return { ...known, handle };
        },
      });
    },
    noticedBy: ["changing a record that was read changes nothing in the store"],
    isNoticedByModel: false,
  },
  {
    mistake: "reads a key in two steps",
    plant: (store) =>
      withMethods(store, {
        async getKey(workspaceId, keyId) {
          const first = await store.getKey(workspaceId, keyId);
          if (first === null) return null;
          await elsewhere();
          const second = await store.getKey(workspaceId, keyId);
          return second && { ...second, usage: first.usage };
        },
      }),
    noticedBy: ["a key is read before an update or after it, never with some of each"],
    isNoticedByModel: false,
  },
  {
    mistake: "answers after it was closed",
    plant: (store) => withMethods(store, { close: async () => undefined }),
    noticedBy: ["a closed store answers every call with STORE_UNAVAILABLE"],
    isNoticedByModel: false,
  },
];

function given<Fields extends object>(fields: Fields): Partial<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Fields>;
}
