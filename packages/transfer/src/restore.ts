import type { KeyStore } from "@latchkey/core";
import { assertKeys, type Decryption } from "./file/encryption.js";
import { unusable } from "./file/line.js";
import { readBackup } from "./file/read-file.js";
import { FileCounters } from "./file/shared-counters.js";
import { assertStore, checkOptions } from "./options.js";
import { emptyParts, type Part } from "./passes/source.js";
import { createProgress, type ProgressListener } from "./progress.js";
import type { TransferReport } from "./report.js";
import { withRetriedCalls } from "./retried-calls.js";
import { TransferTarget } from "./target.js";

/** Options of {@link restore}. */
export interface RestoreOptions {
  /** Decrypts the file. An unencrypted file is then refused, because anybody could have written it. */
  readonly decryption?: Decryption;
  /**
   * First deletes what an unfinished copy or restore left in the store. Without it, you can continue such a store only with the file
   * that it was started with.
   */
  readonly startOver?: boolean;
  readonly onProgress?: ProgressListener;
}

/**
 * Writes a backup to an empty store. It checks the whole file before it writes anything. The store can be used only after everything
 * was read back and compared with the file. If it is interrupted, call it again.
 *
 * @param to - The store, or a function that opens it, called after the file was checked. The store stays open.
 * @throws TypeError naming a wrong option.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the store is in use, or was started with another file, or the file is damaged, altered,
 * cut off, of a later version or encrypted for somebody else; with `decryption`, also if it is not encrypted.
 */
export async function restore(
  to: KeyStore | (() => KeyStore),
  path: string,
  options: RestoreOptions = {},
): Promise<TransferReport> {
  checkOptions("restore", options, {
    decryption: "object",
    startOver: "boolean",
    onProgress: "function",
  });
  if (typeof to !== "function") assertStore("to", to);
  const { decryption, startOver, onProgress } = options;
  await assertKeys("decryption", decryption);
  const counters = new FileCounters();
  /** Number of records in the lists of each workspace. */
  const sizes = new Map<string, number>();
  let last = "";
  let digest = "";
  const onEnd = (sha256: string) => {
    digest = sha256;
  };
  for await (const part of readBackup(path, decryption, onEnd)) {
    counters.learn(part);
    if (part.kind === "workspace") last = part.workspaceId;
    const size = part.kind === "records" ? part.records.length : 0;
    sizes.set(last, (sizes.get(last) ?? 0) + size);
  }
  const assertSame = (sha256: string) => {
    if (sha256 !== digest) throw unusable("it was replaced while it was read");
  };
  async function* parts(workspaceIds: readonly string[]): AsyncGenerator<Part> {
    const wanted = new Set(workspaceIds);
    let isWanted = false;
    for await (const part of readBackup(path, decryption, assertSame)) {
      if (part.kind === "workspace") isWanted = wanted.has(part.workspaceId);
      if (isWanted) yield counters.resolve(part);
    }
    yield* emptyParts(workspaceIds.filter((id) => !sizes.has(id)));
  }
  const store = withRetriedCalls(typeof to === "function" ? to() : to);
  const target = await TransferTarget.take(store, { source: `file:${digest}`, startOver });
  return target.fill(
    { workspaces: async () => [...sizes.keys()], parts },
    async (phase, workspaceIds) => {
      const total = workspaceIds.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
      return createProgress(phase, onProgress, total);
    },
    "the target changed while it was being written: does something else use it?",
  );
}
