import type { Part } from "./passes/source.js";

/** The number of records by kind, and of the windows of workspaces as `window`. */
export type Counts = Readonly<Record<string, number>>;

/** Adds the records of a part. */
export function count(counts: Record<string, number>, part: Part): void {
  const add = (kind: string, by: number) => {
    if (by > 0) counts[kind] = (counts[kind] ?? 0) + by;
  };
  if (part.kind === "records") add(part.of.kind, part.records.length);
  else if (part.kind === "windows") add("window", part.windows.size);
  else if (part.kind === "workspace") add("workspace", part.record === null ? 0 : 1);
}
