import type { KeyStore, ListEntry, LoadedRecord, PageResult, PageWant } from "@latchkey/core";
import { type Methods, type Mutant, withChanges } from "./mutant.js";

/** The methods of a store whose pages are altered. */
function withPages(
  store: KeyStore,
  alter: (result: PageResult, want: PageWant) => PageResult | Promise<PageResult>,
): Methods {
  return {
    page: async (workspaceId, want) => alter(await store.page(workspaceId, want), want),
  };
}

/** The methods of a store that gets altered requests for pages. */
function withWants(store: KeyStore, alter: (want: PageWant) => PageWant): Methods {
  return { page: (workspaceId, want) => store.page(workspaceId, alter(want)) };
}

const listOf = ({ list, of }: Pick<ListEntry, "list" | "of">) => JSON.stringify([list, of]);

/** The methods of a store that takes a page of ids, and then leaves out those whose record is gone. */
function withShortPages(store: KeyStore): Methods {
  const lists = new Map<string, Set<string>>();
  return {
    commit: async (workspaceId, change) => {
      const result = await store.commit(workspaceId, change);
      if (result.kind !== "committed") return result;
      for (const entry of change.leaves) lists.get(listOf(entry))?.delete(entry.id);
      for (const entry of change.enters)
        lists.set(listOf(entry), new Set([...(lists.get(listOf(entry)) ?? []), entry.id]));
      return result;
    },
    page: async (workspaceId, want) => {
      const { kind, after, limit, descending } = want;
      const ids = [...(lists.get(listOf(want)) ?? [])].sort();
      const rest = (descending ? ids.reverse() : ids).filter(
        (id) => after === null || (descending ? id < after : id > after),
      );
      const wants = rest.slice(0, limit).map((id) => ({ kind, id }));
      const { revision, found } = await store.read(workspaceId, wants);
      const { size } = await store.page(workspaceId, { ...want, limit: 1 });
      const there = found.filter((loaded): loaded is LoadedRecord => loaded !== null);
      return { revision, found: there, hasMore: rest.length > limit, size };
    },
  };
}

export const PAGING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "begins a page with the id after which it should begin",
    noticedBy: ["page"],
    plant: (store) =>
      withWants(store, (want) => ({
        ...want,
        after: want.after && (want.descending ? `${want.after} ` : want.after.slice(0, -1)),
      })),
  },
  {
    mistake: "says that more follows a page that is full",
    noticedBy: ["page"],
    plant: (store) =>
      withPages(store, (result, { limit }) => ({
        ...result,
        hasMore: result.found.length === limit,
      })),
  },
  {
    mistake: "says that nothing follows",
    noticedBy: ["page"],
    plant: (store) => withPages(store, (result) => ({ ...result, hasMore: false })),
  },
  {
    mistake: "answers the number of records of the page as the size of the list",
    noticedBy: ["page"],
    plant: (store) => withPages(store, (result) => ({ ...result, size: result.found.length })),
  },
  {
    mistake: "counts a record twice that enters a list twice",
    noticedBy: ["page"],
    plant: (store) => {
      const extra = new Map<string, number>();
      const seen = new Set<string>();
      const entering = withChanges(store, (change) => {
        for (const { list, of, id } of change.enters) {
          const name = JSON.stringify([list, of, id]);
          if (seen.has(name) && of === undefined) extra.set(list, 1 + (extra.get(list) ?? 0));
          seen.add(name);
        }
        return change;
      });
      const sized = withPages(store, (result, { list }) => ({
        ...result,
        size: result.size + (extra.get(list) ?? 0),
      }));
      return { ...entering, ...sized };
    },
  },
  {
    mistake: "answers the size of the small list, not of the list of its name",
    noticedBy: ["page"],
    plant: (store) =>
      withPages(store, (result, { of }) =>
        of === undefined ? result : { ...result, size: result.found.length },
      ),
  },
  {
    mistake: "lists in ascending order only",
    noticedBy: ["page"],
    plant: (store) => withWants(store, (want) => ({ ...want, descending: false })),
  },
  {
    mistake: "lists in the order of a dictionary",
    noticedBy: ["page"],
    isNoticedByModel: false,
    plant: (store) =>
      withPages(store, (result) => ({
        ...result,
        found: result.found.toSorted((one, other) =>
          one.record.id.localeCompare(other.record.id, "en"),
        ),
      })),
  },
  {
    mistake: "lists in the order in which records entered",
    noticedBy: ["page"],
    plant: (store) => {
      const order: string[] = [];
      const entering = withChanges(store, (change) => {
        order.push(...change.enters.map(({ id }) => id));
        return change;
      });
      const ordered = withPages(store, (result) => ({
        ...result,
        found: result.found.toSorted(
          (one, other) => order.indexOf(one.record.id) - order.indexOf(other.record.id),
        ),
      }));
      return { ...entering, ...ordered };
    },
  },
  {
    mistake: "makes pages shorter by the records that are gone",
    noticedBy: ["page"],
    plant: withShortPages,
  },
  {
    mistake: "takes a small list without a name for the list",
    noticedBy: ["names and numbers"],
    isNoticedByModel: false,
    plant: (store) => {
      const named = <Entry extends { readonly of?: string | undefined }>(entry: Entry): Entry => ({
        ...entry,
        of: entry.of || undefined,
      });
      const entering = withChanges(store, (change) => ({
        ...change,
        enters: change.enters.map(named),
        leaves: change.leaves.map(named),
      }));
      return { ...entering, page: (workspaceId, want) => store.page(workspaceId, named(want)) };
    },
  },
  {
    mistake: "joins the names of lists without telling where one ends",
    noticedBy: ["names and numbers"],
    isNoticedByModel: false,
    plant: (store) => {
      const joined = ({ list, of, ...entry }: ListEntry): ListEntry =>
        of === undefined ? { ...entry, list } : { ...entry, list: "small", of: `${list}${of}` };
      const entering = withChanges(store, (change) => ({
        ...change,
        enters: change.enters.map(joined),
        leaves: change.leaves.map(joined),
      }));
      return {
        ...entering,
        page: (workspaceId, want) =>
          store.page(workspaceId, { ...want, ...joined({ ...want, id: "" }) }),
      };
    },
  },
];
