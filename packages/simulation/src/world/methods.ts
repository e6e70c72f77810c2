import type { StoreMethod } from "@latchkey/core";

/** Store methods that a process calls over the network. */
export const METHODS = [
  "read",
  "page",
  "commit",
  "charge",
  "settle",
  "holds",
  "addStatistics",
  "readStatistics",
  "pageStatistics",
  "nextStatisticsDay",
  "deleteStatistics",
  "forget",
  "scan",
] as const satisfies readonly StoreMethod[];

/** One of {@link METHODS}. */
export type Method = (typeof METHODS)[number];
