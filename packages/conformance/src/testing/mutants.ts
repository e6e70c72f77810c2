import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type KeyStore,
  type LoadedKey,
} from "@latchkey/core";
import { OTHER_WORKSPACE, WORKSPACE } from "../fixtures.js";

/** A way to be wrong that stores have been wrong in, planted into a store that is right. */
export interface Mutant {
  /** What the store does, to be read after "a store that". */
  readonly mistake: string;
  readonly plant: (store: KeyStore) => KeyStore;
  /** Titles of promises of which each must notice. */
  readonly noticedBy: readonly string[];
  /** Whether random sequences of calls, one at a time, must notice too. */
  readonly isNoticedByModel: boolean;
}

function withMethods(store: KeyStore, methods: Partial<KeyStore>): KeyStore {
  return new Proxy(store, {
    get(target, name: keyof KeyStore) {
      const method: unknown = methods[name] ?? target[name];
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}

/** Lets every other call of this turn of the event loop happen first. */
const elsewhere = () => new Promise<void>((resolve) => setImmediate(resolve));

function setUses(store: KeyStore, loaded: LoadedKey, remaining: number | null, settledAt: number) {
  const usage = { due: null, operation: { kind: "set", remaining }, settledAt } as const;
  return store.updateKey(loaded.key.workspaceId, loaded.key.id, loaded.key.version, { usage });
}

async function chargeByReadingAndWriting(store: KeyStore, plan: ChargePlan): Promise<ChargeResult> {
  const loaded = await store.getKey(plan.workspaceId, plan.keyId);
  if (loaded === null || plan.limits.length > 0) return store.charge(plan);
  const { result, next } = applyCharge(
    {
      keyVersion: loaded.key.version,
      identityVersion: loaded.identity?.version ?? null,
      epoch: loaded.workspace.epoch,
      usage: loaded.usage,
      windows: [],
    },
    plan,
  );
  await elsewhere();
  if (next !== null) await setUses(store, loaded, next.usage.remaining, next.usage.refilledAt);
  return result;
}

/** Each with the promises that notice it. */
export const MUTANTS: readonly Mutant[] = [
  {
    mistake: "reads the uses, decides, and writes them a moment later",
    plant: (store) =>
      withMethods(store, { charge: (plan) => chargeByReadingAndWriting(store, plan) }),
    noticedBy: [
      "of many parallel uses exactly as many are taken as are left",
      "parallel uses of different costs follow one after the other in some order",
      "a refill is settled once, however many charges find it at once",
      "uses added while others are taken all count",
    ],
    isNoticedByModel: false,
  },
  {
    mistake: "takes the uses although a limit refused",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const result = await store.charge(plan);
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          const { remaining = null } = loaded?.usage ?? {};
          if (result.kind === "rate-limited" && loaded !== null && remaining !== null) {
            await setUses(store, loaded, Math.max(0, remaining - plan.cost), 0);
          }
          return result;
        },
      }),
    noticedBy: [
      "a limit that refuses leaves the uses and every other limit untouched",
      "parallel charges over uses and several limits take all of them or none",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "takes from the first limit although the second refused",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const result = await store.charge(plan);
          const [first] = plan.limits;
          if (result.kind === "rate-limited" && first !== undefined && plan.limits.length > 1) {
            await store.charge({ ...plan, cost: 0, limits: [first] });
          }
          return result;
        },
      }),
    noticedBy: ["a limit that refuses leaves the uses and every other limit untouched"],
    isNoticedByModel: true,
  },
  {
    mistake: "applies a refill again that was applied before",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          const { remaining = null } = loaded?.usage ?? {};
          if (
            loaded !== null &&
            plan.refill !== null &&
            remaining !== null &&
            plan.mode === "take"
          ) {
            await setUses(store, loaded, Math.max(remaining, plan.refill.amount), 0);
          }
          return store.charge(plan);
        },
      }),
    noticedBy: [
      "a refill is settled once, however many charges find it at once",
      "a refill that was settled before is not owed again",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "gives what is left when more is asked",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const { usage } = (await store.getKey(plan.workspaceId, plan.keyId)) ?? {};
          return store.charge({
            ...plan,
            cost: Math.min(plan.cost, usage?.remaining ?? plan.cost),
          });
        },
      }),
    noticedBy: ["a cost above what is left is refused and takes nothing"],
    isNoticedByModel: true,
  },
  {
    mistake: "charges although the key, the identity or the workspace changed",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          if (loaded === null) return store.charge(plan);
          const expects = {
            keyVersion: loaded.key.version,
            identityVersion: loaded.identity?.version ?? null,
            epoch: loaded.workspace.epoch,
          };
          return store.charge({ ...plan, expects });
        },
      }),
    noticedBy: [
      "a charge on another version of the key, the identity or the workspace takes nothing",
      "a key switched off is seen at once: no charge on what was read before goes through",
      "a disabled workspace is seen at once: no charge on what was read before goes through",
      "no charge that starts after a key was switched off goes through, whoever else is charging",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "charges when it was asked to look",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, mode: "take" }) }),
    noticedBy: ["a look answers as a charge would and writes nothing"],
    isNoticedByModel: true,
  },
  {
    mistake: "opens a window a millisecond late",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, now: plan.now - 1 }) }),
    noticedBy: ["a window opens at the exact edge and not a millisecond before"],
    isNoticedByModel: true,
  },
  {
    mistake: "forgets requests at once",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, request: undefined }) }),
    noticedBy: [
      "a repeated request gets the first answer and takes nothing again",
      "of parallel repeats one takes, and all get the same answer",
      "a request id that was used for another question is a conflict and takes nothing",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "remembers requests beyond the end of the key",
    plant: (store) => {
      const remembered = new Map<string, ChargeResult>();
      return withMethods(store, {
        async charge(plan) {
          const name =
            plan.request && `${plan.keyId} ${plan.request.id} ${plan.request.fingerprint}`;
          const known = name === undefined ? undefined : remembered.get(name);
          const result = known ?? (await store.charge(plan));
          if (name !== undefined && result.kind === "charged") remembered.set(name, result);
          return result;
        },
      });
    },
    noticedBy: [
      "what is remembered does not outlive a change of the key",
      "a request is remembered up to its instant and not at it",
    ],
    isNoticedByModel: false,
  },
  {
    mistake: "looks at the version of a key and writes a moment later",
    plant: (store) =>
      withMethods(store, {
        async updateKey(workspaceId, keyId, expectedVersion, patch) {
          const loaded = await store.getKey(workspaceId, keyId);
          if (loaded === null) return { kind: "not-found" };
          if (loaded.key.version !== expectedVersion) return { kind: "stale" };
          await elsewhere();
          const { key = loaded.key } = (await store.getKey(workspaceId, keyId)) ?? {};
          return store.updateKey(workspaceId, keyId, key.version, patch);
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
        async updateKey(workspaceId, keyId, expectedVersion, patch) {
          const { key } = (await store.getKey(workspaceId, keyId)) ?? {};
          return store.updateKey(workspaceId, keyId, key?.version ?? expectedVersion, patch);
        },
      }),
    noticedBy: ["an update that expects another version is stale and writes nothing"],
    isNoticedByModel: true,
  },
  {
    mistake: "raises the version when only uses change",
    plant: (store) =>
      withMethods(store, {
        async updateKey(workspaceId, keyId, expectedVersion, patch) {
          const { key } = (await store.getKey(workspaceId, keyId)) ?? {};
          const environment = patch.environment ?? key?.environment ?? null;
          return store.updateKey(workspaceId, keyId, expectedVersion, { ...patch, environment });
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
        updateKey: (workspaceId, keyId, expectedVersion, { grants, ...patch }) =>
          store.updateKey(workspaceId, keyId, expectedVersion, {
            ...patch,
            grants: grants && { roles: [], permissions: [], ...given(grants) },
          }),
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
        async deleteKey(workspaceId, keyId, deletedAt) {
          const answer = await store.deleteKey(workspaceId, keyId, deletedAt);
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
        async insertKey(newKey) {
          if (newKey.identity !== null) await store.insertIdentity(newKey.identity);
          return store.insertKey(newKey);
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
