import {
  type KeyStore,
  LatchkeyError,
  type LoadedRecord,
  RECORD_KINDS,
  type Want,
} from "@latchkey/core";
import { elsewhere, type Methods, type Mutant, withChanges } from "./mutant.js";

/** The methods of a store whose reads and pages return altered records. */
function withRecords(store: KeyStore, alter: (loaded: LoadedRecord) => LoadedRecord): Methods {
  return {
    read: async (workspaceId, wants) => {
      const { revision, found } = await store.read(workspaceId, wants);
      return { revision, found: found.map((loaded) => loaded && alter(loaded)) };
    },
    page: async (workspaceId, want) => {
      const result = await store.page(workspaceId, want);
      return { ...result, found: result.found.map(alter) };
    },
  };
}

const idOf = (want: Want) => ("id" in want ? want.id : want.value);
const rounded = (number: number) => Number(number.toPrecision(15));

/** The methods of a store that confuses texts for which `fold` returns the same. */
function withTexts(store: KeyStore, fold: (text: string) => string): Methods {
  const folded = <Name extends { readonly value: string }>(name: Name): Name => ({
    ...name,
    value: fold(name.value),
  });
  const changed = withChanges(store, (change) => ({
    ...change,
    claims: change.claims.map(folded),
    releases: change.releases.map(folded),
  }));
  return {
    ...changed,
    read: (workspaceId, wants) =>
      store.read(
        workspaceId,
        wants.map((want) => ("value" in want ? folded(want) : want)),
      ),
  };
}

export const READING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "answers records in the order of their ids, not of the wants",
    noticedBy: ["read"],
    plant: (store) => ({
      read: (workspaceId, wants) =>
        store.read(
          workspaceId,
          wants.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)),
        ),
    }),
  },
  {
    mistake: "leaves missing records out of its answer",
    noticedBy: ["read"],
    plant: (store) => ({
      read: async (workspaceId, wants) => {
        const { revision, found } = await store.read(workspaceId, wants);
        return { revision, found: found.filter((loaded) => loaded !== null) };
      },
    }),
  },
  {
    mistake: "reads each record in a step of its own",
    noticedBy: ["read"],
    isNoticedByModel: false,
    plant: (store) => ({
      read: async (workspaceId, wants) => {
        const found: (LoadedRecord | null)[] = [];
        for (const want of wants) {
          found.push(...(await store.read(workspaceId, [want])).found);
          await elsewhere();
        }
        return { revision: (await store.read(workspaceId, [])).revision, found };
      },
    }),
  },
  {
    mistake: "reads the identity in a step after the record",
    noticedBy: ["read"],
    isNoticedByModel: false,
    plant: (store) => ({
      read: async (workspaceId, wants) => {
        const first = await store.read(workspaceId, wants);
        await elsewhere();
        const second = await store.read(workspaceId, wants);
        const found = first.found.map((loaded, index) =>
          loaded === null ? null : { ...loaded, linked: second.found[index]?.linked ?? null },
        );
        return { revision: first.revision, found };
      },
    }),
  },
  {
    mistake: "answers the revision of a moment before",
    noticedBy: ["read", "commit: records"],
    plant: (store) => {
      let before = 0;
      return {
        read: async (workspaceId, wants) => {
          const { revision, found } = await store.read(workspaceId, wants);
          const known = before;
          before = revision;
          return { revision: known, found };
        },
      };
    },
  },
  {
    mistake: "keeps returning what it read once",
    noticedBy: ["commit: records", "charge: uses and refills"],
    plant: (store) => {
      const known = new Map<string, ReturnType<KeyStore["read"]>>();
      return {
        read: (workspaceId, wants) => {
          const name = JSON.stringify([workspaceId, wants]);
          const answer = known.get(name) ?? store.read(workspaceId, wants);
          known.set(name, answer);
          return answer;
        },
      };
    },
  },
  {
    mistake: "finds a name whatever the kind of its record is",
    noticedBy: ["read"],
    plant: (store) => ({
      read: async (workspaceId, wants) => {
        const { revision, found } = await store.read(workspaceId, wants);
        const any = await Promise.all(
          wants.map(async (want, index) => {
            if (found[index] || "id" in want) return found[index] ?? null;
            const all = RECORD_KINDS.map((kind) => ({ ...want, kind }));
            const others = (await store.read(workspaceId, all)).found;
            return others.find((loaded) => loaded !== null) ?? null;
          }),
        );
        return { revision, found: any };
      },
    }),
  },
  {
    mistake: "answers linked identities without their uses",
    noticedBy: ["read", "page"],
    plant: (store) =>
      withRecords(store, (loaded) => ({
        ...loaded,
        linked: loaded.linked && { ...loaded.linked, usage: null },
      })),
  },
  {
    mistake: "answers no latest use",
    noticedBy: ["statistics", "page", "commit: records"],
    plant: (store) => withRecords(store, (loaded) => ({ ...loaded, usedAt: null })),
  },
  {
    mistake: "answers an empty list in a body as an empty object, as some scripts do",
    noticedBy: ["read"],
    plant: (store) =>
      withRecords(store, (loaded) => {
        const text = JSON.stringify(loaded.record.body ?? null).replaceAll("[]", "{}");
        return { ...loaded, record: { ...loaded.record, body: JSON.parse(text) } };
      }),
  },
  {
    mistake: "keeps fifteen digits of a number",
    noticedBy: ["names and numbers", "read"],
    plant: (store) =>
      withRecords(store, (loaded) => ({
        ...loaded,
        record: { ...loaded.record, version: rounded(loaded.record.version) },
        usage: loaded.usage && {
          ...loaded.usage,
          remaining: loaded.usage.remaining && rounded(loaded.usage.remaining),
        },
      })),
  },
  {
    mistake: "returns its own objects",
    noticedBy: ["values handed in and out"],
    isNoticedByModel: false,
    plant: (store) => {
      const held = new Map<string, LoadedRecord>();
      const thawed = (loaded: LoadedRecord): LoadedRecord => {
        const name = JSON.stringify(loaded);
        const own = held.get(name) ?? structuredClone(loaded);
        held.set(name, own);
        return own;
      };
      return withRecords(store, thawed);
    },
  },
  {
    mistake: "keeps a body that the caller can still change",
    noticedBy: ["values handed in and out"],
    isNoticedByModel: false,
    plant: (store) => {
      const bodies = new Map<string, LoadedRecord["record"]["body"]>();
      const keeping = withChanges(store, (change) => {
        for (const { record } of change.puts) bodies.set(record.id, record.body);
        const puts = structuredClone(change.puts);
        return { ...change, puts };
      });
      const read = withRecords(store, (loaded) => ({
        ...loaded,
        record: { ...loaded.record, body: bodies.get(loaded.record.id) },
      }));
      return { ...keeping, ...read };
    },
  },
  {
    mistake: "does not tell upper case from lower case in a name",
    noticedBy: ["commit: claims", "names and numbers"],
    isNoticedByModel: false,
    plant: (store) => withTexts(store, (text) => text.toLowerCase()),
  },
  {
    mistake: "trims names",
    noticedBy: ["commit: claims", "names and numbers"],
    isNoticedByModel: false,
    plant: (store) => withTexts(store, (text) => text.trim()),
  },
  {
    mistake: "takes texts that look alike for the same",
    noticedBy: ["commit: claims", "names and numbers"],
    isNoticedByModel: false,
    plant: (store) => withTexts(store, (text) => text.normalize()),
  },
  {
    mistake: "cuts a name off at the character 0",
    noticedBy: ["commit: claims", "names and numbers"],
    isNoticedByModel: false,
    plant: (store) => withTexts(store, (text) => text.split("\u0000")[0] ?? ""),
  },
  {
    mistake: "answers after it was closed",
    noticedBy: ["close"],
    isNoticedByModel: false,
    plant: () => ({ close: async () => undefined }),
  },
  {
    mistake: "does not say whether a closed store wrote anything",
    noticedBy: ["close"],
    isNoticedByModel: false,
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        try {
          return await store.commit(workspaceId, change);
        } catch {
          throw new LatchkeyError("STORE_UNAVAILABLE", "closed", { outcome: "unknown" });
        }
      },
    }),
  },
  {
    mistake: "cannot be closed twice",
    noticedBy: ["close"],
    isNoticedByModel: false,
    plant: (store) => {
      let isClosed = false;
      return {
        close: async () => {
          // Not on the third time, so that the context of a test can close what is left.
          if (isClosed) {
            isClosed = false;
            throw new Error("closed already");
          }
          isClosed = true;
          await store.close();
        },
      };
    },
  },
  {
    mistake: "has one workspace for all",
    noticedBy: ["workspaces"],
    plant: (store) => ({
      read: (_, wants) => store.read("ws", wants),
      page: (_, want) => store.page("ws", want),
      commit: (_, change) => store.commit("ws", change),
      charge: (plan, moment) => store.charge({ ...plan, workspaceId: "ws" }, moment),
    }),
  },
  {
    mistake: "keeps windows without an owner for all workspaces together",
    noticedBy: ["workspaces"],
    plant: (store) => ({
      charge: (plan, moment) =>
        plan.confirms.length === 0
          ? store.charge({ ...plan, workspaceId: "ws" }, moment)
          : store.charge(plan, moment),
    }),
  },
  {
    mistake: "adds up the statistics of all workspaces",
    noticedBy: ["workspaces"],
    plant: (store) => ({
      addStatistics: async (workspaceId, { counts, uses }) => {
        await store.addStatistics("ws", { counts, uses: [] });
        await store.addStatistics(workspaceId, { counts: [], uses });
      },
      readStatistics: (_, range) => store.readStatistics("ws", range),
      deleteStatistics: (_, beforeAt, limit) => store.deleteStatistics("ws", beforeAt, limit),
    }),
  },
];
