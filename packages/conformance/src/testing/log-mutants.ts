import type { Change, KeyStore } from "@latchkey/core";
import { at } from "../fixtures/records.js";
import { elsewhere, type Mutant, withChanges } from "./mutant.js";

const LIST = "auditEntry";

function entriesOf(store: KeyStore, workspaceId: string) {
  const want = { kind: LIST, list: LIST, after: null, limit: 1_000 } as const;
  return store.page(workspaceId, { ...want, from: { version: 1, id: "" } });
}

/** A change whose new entries get the versions that `next` returns instead of 0. */
function numbered(change: Change, next: (id: string) => number): Change {
  const puts = change.puts.map(({ record, ...put }) => {
    const isNew = record.kind === LIST && record.version === 0;
    return { ...put, record: isNew ? { ...record, version: next(record.id) } : record };
  });
  return { ...change, puts };
}

const hasEntries = ({ puts }: Change) =>
  puts.some(({ record: { kind, version } }) => kind === LIST && version === 0);

export const LOG_MUTANTS: readonly Mutant[] = [
  {
    mistake: "answers the log in the order of ids",
    noticedBy: ["commit: order of the log"],
    isNoticedByModel: false,
    plant: (store) => ({
      page: async (workspaceId, want) => {
        const result = await store.page(workspaceId, want);
        if (want.from === undefined) return result;
        const byId = result.found.toSorted((one, other) =>
          one.record.id < other.record.id ? -1 : 1,
        );
        return { ...result, found: byId };
      },
    }),
  },
  {
    mistake: "begins a page of the log behind its place",
    noticedBy: ["commit: order of the log"],
    isNoticedByModel: false,
    plant: (store) => ({
      page: (workspaceId, { from, ...want }) =>
        store.page(workspaceId, { ...want, from: from && { ...from, id: `${from.id}~` } }),
    }),
  },
  {
    mistake: "gives entries their numbers before they are committed",
    noticedBy: ["commit: order of the log"],
    isNoticedByModel: false,
    plant: (store) => {
      const given = new Map<string, number>();
      let changes = 0;
      return withChanges(store, async (change, workspaceId) => {
        if (!hasEntries(change)) return change;
        const next = () => {
          given.set(workspaceId, 1 + (given.get(workspaceId) ?? 1));
          return given.get(workspaceId) ?? 0;
        };
        const written = numbered(change, next);
        changes += 1;
        for (let turn = changes % 4; turn > 0; turn -= 1) await elsewhere();
        return written;
      });
    },
  },
  {
    mistake: "gives the highest number again once its entry is deleted",
    noticedBy: ["commit: order of the log"],
    isNoticedByModel: false,
    plant: (store) =>
      withChanges(store, async (change, workspaceId) => {
        if (!hasEntries(change)) return change;
        const { found } = await entriesOf(store, workspaceId);
        let last = found.at(-1)?.record.version ?? 1;
        const known = new Map(found.map(({ record }) => [record.id, record.version]));
        return numbered(change, (id) => {
          last += 1;
          return known.get(id) ?? last;
        });
      }),
  },
  {
    mistake: "takes numbers for changes that it refuses",
    noticedBy: ["commit: order of the log"],
    isNoticedByModel: false,
    plant: (store) => ({
      commit: async (workspaceId, change) => {
        const result = await store.commit(workspaceId, change);
        if (result.kind === "committed" || !hasEntries(change)) return result;
        const record = { ...at(LIST, 999_999), version: 0, link: null, body: {} };
        const entry = { list: LIST, id: record.id };
        const none = { ...change, expects: [], claims: [], counters: [], puts: [], enters: [] };
        await store.commit(workspaceId, { ...none, puts: [{ record }], enters: [entry] });
        await store.commit(workspaceId, { ...none, deletes: [record], leaves: [entry] });
        return result;
      },
    }),
  },
  {
    mistake: "gives an entry that is written again another number",
    noticedBy: ["commit: order of the log"],
    isNoticedByModel: false,
    plant: (store) =>
      withChanges(store, async (change, workspaceId) => {
        const { found, last = 1 } = await entriesOf(store, workspaceId);
        const known = new Set(found.map(({ record }) => record.id));
        const isAgain = change.puts.some(({ record: { id } }) => known.has(id));
        return isAgain ? numbered(change, () => last + 1) : change;
      }),
  },
];
