import type { Change, Expectation, KeyStore, Usage } from "@latchkey/core";
import { elsewhere, holdersOf, type Methods, type Mutant, NOTHING, withChanges } from "./mutant.js";

/** The methods of a store that judges expectations in another way. */
function withExpectations(
  store: KeyStore,
  alter: (expects: readonly Expectation[]) => readonly Expectation[],
): Methods {
  return withChanges(store, (change) => ({ ...change, expects: alter(change.expects) }));
}

/** The methods of a store that carries a change out in several steps, each as if it were one. */
function inSteps(store: KeyStore, split: (change: Change) => readonly Partial<Change>[]): Methods {
  return {
    commit: async (workspaceId, change) => {
      const usages: Usage[] = [];
      for (const step of split(change)) {
        const result = await store.commit(workspaceId, { ...NOTHING, ...step });
        if (result.kind !== "committed") return result;
        usages.push(...result.usages);
      }
      return { kind: "committed", usages };
    },
  };
}

export const COMMIT_MUTANTS: readonly Mutant[] = [
  {
    mistake: "expects nothing",
    noticedBy: ["commit: expectations", "commit: all or nothing"],
    plant: (store) => withExpectations(store, () => []),
  },
  {
    mistake: "looks at the first expectation only",
    noticedBy: ["commit: expectations"],
    plant: (store) => withExpectations(store, (expects) => expects.slice(0, 1)),
  },
  {
    mistake: "expects only that a version exists",
    noticedBy: ["commit: expectations"],
    plant: (store) =>
      withExpectations(store, (expects) =>
        expects.map((one) => ({ ...one, version: one.version === null ? null : "exists" })),
      ),
  },
  {
    mistake: "accepts `exists` for a missing record",
    noticedBy: ["commit: expectations"],
    plant: (store) =>
      withExpectations(store, (expects) => expects.filter(({ version }) => version !== "exists")),
  },
  {
    mistake: "does not look whether a record is absent",
    noticedBy: ["commit: expectations", "commit: all or nothing"],
    plant: (store) =>
      withExpectations(store, (expects) => expects.filter(({ version }) => version !== null)),
  },
  {
    mistake: "takes version 0 for no record",
    noticedBy: ["commit: expectations"],
    isNoticedByModel: false,
    plant: (store) =>
      withExpectations(store, (expects) =>
        expects.map((one) => ({ ...one, version: one.version === 0 ? null : one.version })),
      ),
  },
  {
    mistake: "says that the last expectation is stale, whichever is",
    noticedBy: ["commit: expectations"],
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const result = await store.commit(workspaceId, change);
        if (result.kind !== "stale") return result;
        return { kind: "stale", index: change.expects.length - 1 };
      },
    }),
  },
  {
    mistake: "looks, and then writes",
    noticedBy: ["commit: all or nothing"],
    isNoticedByModel: false,
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const looked = await store.commit(workspaceId, { ...NOTHING, expects: change.expects });
        if (looked.kind !== "committed") return looked;
        await elsewhere();
        return store.commit(workspaceId, { ...change, expects: [] });
      },
    }),
  },
  {
    mistake: "writes records before it looks at names",
    noticedBy: ["commit: all or nothing", "commit: claims"],
    plant: (store) => inSteps(store, ({ expects, puts, ...rest }) => [{ expects, puts }, rest]),
  },
  {
    mistake: "changes counters one at a time",
    noticedBy: ["commit: all or nothing", "commit: counters"],
    plant: (store) =>
      inSteps(store, ({ counters, ...rest }) => [
        rest,
        ...counters.map((one) => ({ counters: [one] })),
      ]),
  },
  {
    mistake: "lets records enter lists in a step before",
    noticedBy: ["commit: all or nothing"],
    plant: (store) => inSteps(store, ({ enters, leaves, ...rest }) => [{ enters, leaves }, rest]),
  },
  {
    mistake: "drops windows of the workspace in a step before",
    noticedBy: ["commit: all or nothing"],
    seed: 8,
    plant: (store) => inSteps(store, ({ dropWindows, ...rest }) => [{ dropWindows }, rest]),
  },
  {
    mistake: "writes the revision in a step before",
    noticedBy: ["commit: all or nothing"],
    plant: (store) => inSteps(store, ({ revision, ...rest }) => [{ revision }, rest]),
  },
  {
    mistake: "looks at names before expectations",
    noticedBy: ["commit: expectations"],
    seed: 21,
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const { claims, releases } = change;
        const probe = await store.commit(workspaceId, {
          ...NOTHING,
          claims,
          releases,
          expects: [{ kind: "key", id: "none", version: "exists" }],
        });
        const holders = await holdersOf(store, workspaceId, change);
        const isReleased = (index: number) =>
          releases.some((one) => one.value === claims[index]?.value && one.id === holders[index]);
        const taken = holders.findIndex(
          (holder, index) => holder !== null && holder !== claims[index]?.id && !isReleased(index),
        );
        if (probe.kind === "stale" && taken !== -1) return { kind: "taken", index: taken };
        return store.commit(workspaceId, change);
      },
    }),
  },
  {
    mistake: "gives a name to the record that claims it last",
    noticedBy: ["commit: claims", "commit: all or nothing"],
    plant: (store) =>
      withChanges(store, async (change, workspaceId) => {
        const holders = await holdersOf(store, workspaceId, change);
        const taken = change.claims.map((claim, index) => ({ ...claim, id: holders[index] ?? "" }));
        return { ...change, releases: [...change.releases, ...taken] };
      }),
  },
  {
    mistake: "keeps the name of a record that is gone",
    noticedBy: ["commit: claims"],
    plant: (store) => {
      const holders = new Map<string, string>();
      const nameOf = ({ kind, index, value }: Change["claims"][number]) =>
        JSON.stringify([kind, index, value]);
      return {
        commit: async (workspaceId, change) => {
          const result = await store.commit(workspaceId, {
            ...NOTHING,
            expects: change.expects,
          });
          if (result.kind !== "committed") return result;
          const freed = new Map(holders);
          for (const one of change.releases)
            if (freed.get(nameOf(one)) === one.id) freed.delete(nameOf(one));
          const taken = change.claims.findIndex(
            (one) => (freed.get(nameOf(one)) ?? one.id) !== one.id,
          );
          if (taken !== -1) return { kind: "taken", index: taken };
          const committed = await store.commit(workspaceId, change);
          if (committed.kind !== "committed") return committed;
          for (const one of change.releases)
            if (holders.get(nameOf(one)) === one.id) holders.delete(nameOf(one));
          for (const one of change.claims) holders.set(nameOf(one), one.id);
          return committed;
        },
      };
    },
  },
];
