import type { StatisticsBatch } from "@latchkey/core";
import type { Workspace } from "./workspace.js";

/** Adds a batch to the sums of a workspace, and raises `usedAt` of the records that exist. */
export function addStatistics(workspace: Workspace, { counts, uses }: StatisticsBatch): void {
  for (const count of counts) workspace.statistics.add(count);
  for (const { kind, id, usedAt } of uses) workspace.row(kind, id)?.used(usedAt);
}
