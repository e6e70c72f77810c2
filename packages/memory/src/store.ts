import { type KeyStore, unavailable } from "@latchkey/core";
import { charge, chargeCounted } from "./charge.js";
import { commit } from "./commit.js";
import { entryOf } from "./entry-of.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { Workspace, type Workspaces } from "./workspace.js";

/**
 * Opens an empty store in the memory of this process, for tests. It is exact, but not durable, and other processes cannot use it. Every
 * other store is compared with it.
 *
 * Every method is one synchronous section, and therefore atomic: `async` only turns a throw into a rejection.
 */
export function memoryStore(): KeyStore {
  let workspaces: Workspaces | null = new Map();
  const opened = (): Workspaces => {
    if (workspaces !== null) return workspaces;
    throw unavailable("the store is closed");
  };
  // Not saved in the map: workspaces that are only read would pile up.
  const find = (workspaceId: string) => opened().get(workspaceId) ?? new Workspace();
  const open = (workspaceId: string) => entryOf(opened(), workspaceId, () => new Workspace());
  return {
    read: async (workspaceId, wants) => read(find(workspaceId), wants),
    page: async (workspaceId, want) => page(find(workspaceId), want),
    commit: async (workspaceId, change) => {
      const { puts, claims, enters, revision } = change;
      const isWriting = puts.length + claims.length + enters.length > 0 || revision !== null;
      const workspace = find(workspaceId);
      const result = commit(workspace, change);
      if (isWriting && result.kind === "committed") opened().set(workspaceId, workspace);
      return result;
    },
    charge: (plan, moment) =>
      (plan.counts === undefined ? charge : chargeCounted)(opened(), plan, moment),
    countsInStep: true,
    settle: async (workspaceId, ...given) => find(workspaceId).settle(...given),
    holds: async (workspaceId, ...page) => find(workspaceId).holds.page(...page),
    addStatistics: async (workspaceId, batch) =>
      (batch.counts.length > 0 ? open : find)(workspaceId).addStatistics(batch),
    readStatistics: async (workspaceId, range) => find(workspaceId).statistics.read(range),
    pageStatistics: async (workspaceId, want) => find(workspaceId).statistics.page(want),
    nextStatisticsDay: async (workspaceId, from) => find(workspaceId).statistics.nextDay(from),
    deleteStatistics: async (id, ...given) => find(id).statistics.delete(...given),
    // All names at once: they are in memory anyway.
    scan: async (id) => ({
      names: id === null ? [...opened().keys()] : find(id).windows.names(),
      next: null,
    }),
    forget: async (workspaceId) => {
      find(workspaceId).isForgotten = true;
      opened().delete(workspaceId);
      return null;
    },
    close: async () => {
      workspaces = null;
    },
  };
}
