import type { KeyStore } from "@latchkey/core";
import { count } from "./counts.js";
import type { Decryption } from "./file/encryption.js";
import { readBackup } from "./file/read-file.js";
import { FileCounters } from "./file/shared-counters.js";
import type { Part } from "./passes/source.js";
import { createProgress, type ProgressListener } from "./progress.js";
import type { TransferReport } from "./report.js";
import { TransferTarget } from "./target.js";

/** Options of {@link restore}. */
export interface RestoreOptions {
  readonly decryption?: Decryption;
  readonly onProgress?: ProgressListener;
}

/**
 * Writes a backup to an empty store. The file is read to its end, and found to be whole, before anything is written; then the store
 * answers nothing before everything was read back and found to be what the file says. Call it again if it was interrupted.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` where the store is in use, and for a file that is damaged, altered, cut off, of a later
 * version or encrypted for somebody else.
 */
export async function restore(
  store: KeyStore,
  path: string,
  { decryption, onProgress }: RestoreOptions = {},
): Promise<TransferReport> {
  const counters = new FileCounters();
  const workspaces: string[] = [];
  const counts: Record<string, number> = {};
  for await (const part of readBackup(path, decryption)) {
    counters.learn(part);
    count(counts, part);
    if (part.kind === "workspace") workspaces.push(part.workspaceId);
  }
  async function* parts(workspaceIds: readonly string[]): AsyncGenerator<Part> {
    const wanted = new Set(workspaceIds);
    let isWanted = false;
    for await (const part of readBackup(path, decryption)) {
      if (part.kind === "workspace") isWanted = wanted.has(part.workspaceId);
      if (isWanted) yield counters.resolve(part);
    }
  }
  const target = await TransferTarget.take(store);
  const total = Object.values(counts).reduce((sum, size) => sum + size, 0);
  return target.fill(
    { workspaces: async () => workspaces, parts },
    (phase) => createProgress(phase, onProgress, total),
    "the target does not stay as it is written: does something else use it?",
  );
}
