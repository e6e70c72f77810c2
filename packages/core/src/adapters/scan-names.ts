import type { ScanResult } from "../store/key-store.js";

/** How many names a store answers at once. */
export const SCAN_PAGE = 1_000;

/** Below every name of a window, which has no space, and above those of requests, as which SQL stores keep them: they begin with one. */
export const FIRST_WINDOW = " \x7f";

/** The answer to a scan, of rows in ascending order of the name in them, {@link SCAN_PAGE} at most. */
export function scannedNames(rows: readonly (readonly unknown[])[]): ScanResult {
  const names = rows.map(([name]) => String(name));
  return { names, next: rows.length < SCAN_PAGE ? null : (names.at(-1) ?? null) };
}
