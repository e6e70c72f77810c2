import { WORKSPACE } from "../fixtures/records.js";
import type { Mutant } from "./mutant.js";

export const SCANNING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "ends a scan after a thousand names",
    noticedBy: ["scan"],
    isNoticedByModel: false,
    plant: (store) => ({
      scan: async (workspaceId, after) => {
        const { names } = await store.scan(workspaceId, after);
        return { names: names.slice(0, 1_000), next: null };
      },
    }),
  },
  {
    mistake: "finds the windows of one workspace in every other",
    noticedBy: ["scan"],
    isNoticedByModel: false,
    plant: (store) => ({
      scan: (workspaceId, after) => store.scan(workspaceId === null ? null : WORKSPACE, after),
    }),
  },
  {
    mistake: "finds workspaces by their records of keys alone",
    noticedBy: ["scan"],
    isNoticedByModel: false,
    plant: (store) => ({
      scan: async (workspaceId, after) => {
        const found = await store.scan(workspaceId, after);
        if (workspaceId !== null) return found;
        return { ...found, names: found.names.filter((name) => name === WORKSPACE) };
      },
    }),
  },
];
