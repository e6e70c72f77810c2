import type { ScanResult } from "../store/key-store.js";

/** Most names in one result of a scan. */
export const SCAN_PAGE = 1_000;

/** Sorts before every window, and after the remembered requests in the same table, whose names begin with a space. */
export const FIRST_WINDOW = " \x7f";

/** The result of a scan, from at most {@link SCAN_PAGE} rows in ascending order of their name. */
export function scannedNames(rows: readonly (readonly unknown[])[]): ScanResult {
  const names = rows.map(([name]) => String(name));
  return { names, next: rows.length < SCAN_PAGE ? null : (names.at(-1) ?? null) };
}
