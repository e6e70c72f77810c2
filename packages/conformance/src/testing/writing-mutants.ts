import type { Change, CommitResult, KeyStore, Usage } from "@latchkey/core";
import { holdersOf, type Methods, type Mutant, NOTHING, withChanges } from "./mutant.js";

function withCommitted(store: KeyStore, alter: (result: CommitResult) => CommitResult): Methods {
  return {
    commit: async (workspaceId, change) => alter(await store.commit(workspaceId, change)),
  };
}

/** The methods of a store that alters each put of a change. */
function withPuts(
  store: KeyStore,
  alter: (
    put: Change["puts"][number],
    workspaceId: string,
  ) => Change["puts"][number] | Promise<Change["puts"][number]>,
): Methods {
  return withChanges(store, async (change, workspaceId) => ({
    ...change,
    puts: await Promise.all(change.puts.map((put) => alter(put, workspaceId))),
  }));
}

async function usageOf(store: KeyStore, workspaceId: string, kind: "key", id: string) {
  return (await store.read(workspaceId, [{ kind, id }])).found[0]?.usage ?? null;
}

export const WRITING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "looks at names before it releases any",
    noticedBy: ["commit: claims"],
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const holders = await holdersOf(store, workspaceId, change);
        const taken = holders.findIndex(
          (holder, index) => holder !== null && holder !== change.claims[index]?.id,
        );
        const looked = await store.commit(workspaceId, { ...NOTHING, expects: change.expects });
        if (looked.kind === "committed" && taken !== -1) return { kind: "taken", index: taken };
        return store.commit(workspaceId, change);
      },
    }),
  },
  {
    mistake: "releases the names of any record",
    noticedBy: ["commit: claims"],
    plant: (store) =>
      withChanges(store, async (change, workspaceId) => {
        const holders = await holdersOf(store, workspaceId, { ...change, claims: change.releases });
        const releases = change.releases.map((one, index) => ({
          ...one,
          id: holders[index] ?? one.id,
        }));
        return { ...change, releases };
      }),
  },
  {
    mistake: "forgets the windows of a record that is written again",
    noticedBy: ["commit: records", "charge: limits"],
    plant: (store) =>
      withPuts(store, async (put, workspaceId) => {
        const { kind, id } = put.record;
        if (put.counters !== undefined || kind !== "key") return put;
        const usage = await usageOf(store, workspaceId, kind, id);
        return usage === null ? put : { ...put, counters: { usage } };
      }),
  },
  {
    mistake: "copies counters that are to be shared",
    noticedBy: ["commit: shared counters"],
    plant: (store) =>
      withPuts(store, async (put, workspaceId) => {
        if (put.counters === undefined || "usage" in put.counters) return put;
        const usage = await usageOf(store, workspaceId, "key", put.counters.sharedWith);
        return usage === null ? put : { ...put, counters: { usage } };
      }),
  },
  {
    mistake: "forgets shared counters with the record that had them first",
    noticedBy: ["commit: shared counters"],
    plant: (store) => {
      const sharers = new Map<string, string[]>();
      return {
        commit: async (workspaceId, change) => {
          const result = await store.commit(workspaceId, change);
          if (result.kind !== "committed") return result;
          for (const { record, counters } of change.puts)
            if (counters && "sharedWith" in counters)
              sharers.set(counters.sharedWith, [
                ...(sharers.get(counters.sharedWith) ?? []),
                record.id,
              ]);
          const orphans = change.deletes.flatMap(({ id }) => sharers.get(id) ?? []);
          const wants = orphans.map((id) => ({ kind: "key" as const, id }));
          const { found } = await store.read(workspaceId, wants);
          const usage = { remaining: 0, refilledAt: 0, lastRefillAt: null };
          const puts = found.flatMap((loaded) =>
            loaded ? [{ record: loaded.record, counters: { usage } }] : [],
          );
          await store.commit(workspaceId, { ...NOTHING, puts });
          return result;
        },
      };
    },
  },
  {
    mistake: "keeps the latest use and the counters of a deleted record for the next one of its id",
    noticedBy: ["commit: records", "commit: shared counters"],
    plant: (store) => {
      const kept = new Map<string, Usage>();
      return withChanges(store, async (change, workspaceId) => {
        for (const { kind, id } of change.deletes) {
          const usage = kind === "key" ? await usageOf(store, workspaceId, kind, id) : null;
          if (usage !== null) kept.set(id, usage);
        }
        const puts = change.puts.map((put) => {
          const usage = put.counters === undefined ? kept.get(put.record.id) : undefined;
          return usage === undefined ? put : { ...put, counters: { usage } };
        });
        return { ...change, puts };
      });
    },
  },
  {
    mistake: "takes what is left if a decrement asks for more",
    noticedBy: ["commit: counters", "commit: expectations"],
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const result = await store.commit(workspaceId, change);
        if (result.kind !== "refused" || result.reason.kind !== "insufficient") return result;
        const operation = { kind: "set", remaining: 0 } as const;
        const counters = change.counters.map((one, index) =>
          index === result.index
            ? { ...one, usage: { due: null, restartsAt: null, ...one.usage, operation } }
            : one,
        );
        return store.commit(workspaceId, { ...change, counters });
      },
    }),
  },
  {
    mistake: "answers counters in the order of their ids",
    noticedBy: ["commit: counters"],
    plant: (store) =>
      withCommitted(store, (result) =>
        result.kind === "committed"
          ? {
              ...result,
              usages: result.usages.toSorted(
                (one, two) => (two.remaining ?? 0) - (one.remaining ?? 0),
              ),
            }
          : result,
      ),
  },
  {
    mistake: "does not apply a refill that is owed before it changes the uses",
    noticedBy: ["commit: counters"],
    plant: (store) =>
      withChanges(store, (change) => ({
        ...change,
        counters: change.counters.map((one) =>
          one.usage ? { ...one, usage: { ...one.usage, due: null } } : one,
        ),
      })),
  },
  {
    mistake: "never restarts refills",
    noticedBy: ["commit: counters"],
    plant: (store) =>
      withChanges(store, (change) => ({
        ...change,
        counters: change.counters.map((one) =>
          one.usage ? { ...one, usage: { ...one.usage, restartsAt: null } } : one,
        ),
      })),
  },
  ...(["keepWindows", "dropWindows"] as const).map((field) => ({
    mistake: `passes over ${field} of counters`,
    noticedBy: ["commit: counters"],
    plant: (store: KeyStore) =>
      withChanges(store, (change) => ({
        ...change,
        counters: change.counters.map((one) => ({ ...one, [field]: undefined })),
      })),
  })),
  {
    mistake: "never forgets a window of the workspace",
    noticedBy: ["commit: counters", "workspaces"],
    plant: (store) => withChanges(store, (change) => ({ ...change, dropWindows: [] })),
  },
  {
    mistake: "counts the revision with every change",
    noticedBy: ["commit: records", "commit: expectations"],
    plant: (store) =>
      withChanges(store, (change) => ({ ...change, revision: change.revision ?? 1 })),
  },
  {
    mistake: "never writes a revision",
    noticedBy: ["commit: records", "charge: confirmation"],
    plant: (store) => withChanges(store, (change) => ({ ...change, revision: null })),
  },
  {
    mistake: "takes the higher revision for the later one",
    noticedBy: ["commit: records"],
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const { revision: before } = await store.read(workspaceId, []);
        const revision = change.revision && Math.max(before, change.revision);
        return store.commit(workspaceId, { ...change, revision });
      },
    }),
  },
  {
    mistake: "does not delete",
    noticedBy: ["commit: records", "charge: confirmation"],
    plant: (store) => withChanges(store, (change) => ({ ...change, deletes: [] })),
  },
  {
    mistake: "expects what it deletes to be there",
    noticedBy: ["commit: records"],
    plant: (store) =>
      withChanges(store, (change) => ({
        ...change,
        expects: [
          ...change.expects,
          ...change.deletes.map(({ kind, id }) => ({ kind, id, version: "exists" as const })),
        ],
      })),
  },
  {
    mistake: "merges a body into the one before",
    noticedBy: ["commit: records"],
    plant: (store) =>
      withPuts(store, async (put, workspaceId) => {
        const { found } = await store.read(workspaceId, [put.record]);
        const [before, body] = [found[0]?.record.body, put.record.body];
        const isObject = (value: unknown) =>
          typeof value === "object" && value !== null && !Array.isArray(value);
        if (!isObject(before) || !isObject(body)) return put;
        const merged = { ...(before as object), ...(body as object) } as typeof body;
        return { ...put, record: { ...put.record, body: merged } };
      }),
  },
  {
    mistake: "keeps the link of a record that no longer has one",
    noticedBy: ["commit: records"],
    plant: (store) =>
      withPuts(store, async (put, workspaceId) => {
        const { found } = await store.read(workspaceId, [put.record]);
        const link = put.record.link ?? found[0]?.record.link ?? null;
        return { ...put, record: { ...put.record, link } };
      }),
  },
];
