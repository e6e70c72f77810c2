import { createHash } from "node:crypto";
import { createLatchkey, type KeyStore, type LatchkeyOptions } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { type ImportOptions, importKeys } from "../import-keys.js";
import type { ImportReport, RowReport } from "../report.js";

/** Tuesday, 2026-03-10, 12:00 UTC. */
export const NOON: number = Date.UTC(2026, 2, 10, 12);

export const DAY_MS = 86_400_000;

/** A ring of one key of 32 bytes. */
export function keyRing(first: number) {
  return { current: "k", keys: { k: Uint8Array.from({ length: 32 }, (_, at) => first + at) } };
}

/** SHA-256 of a secret. */
export function hashOf(secret: string, form: "hex" | "base64" | "base64url" = "hex"): string {
  return createHash("sha256").update(secret).digest(form);
}

/** A latchkey on a store, with a fixed clock unless another is given. */
export function openLatchkey(
  store: KeyStore = memoryStore(),
  options: Partial<LatchkeyOptions> = {},
) {
  return createLatchkey({ store, clock: () => NOON, usage: false, ...options });
}

/** A text in pieces of a few whole characters, as a file arrives. */
export async function* inPieces(text: string, size = 7): AsyncGenerator<string> {
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += size)
    yield characters.slice(at, at + size).join("");
}

/** Runs an import to its end. */
export async function runImport(options: ImportOptions): Promise<{
  readonly report: ImportReport;
  readonly rows: readonly RowReport[];
}> {
  const rows: RowReport[] = [];
  let report: ImportReport | undefined;
  for await (report of importKeys({ clock: () => 0, ...options, onRow: (row) => rows.push(row) }));
  if (report === undefined) throw new Error("an import ends with a report");
  return { report, rows };
}

/** Field and message of every issue, by row. */
export function issuesOf(rows: readonly RowReport[]): readonly string[] {
  return rows.flatMap(({ row, issues }) =>
    issues.map(({ field, message }) => `${row} ${field} ${message}`),
  );
}
