import type { KeyStore } from "@latchkey/core";
import { type Counts, count } from "./counts.js";
import { assertKeys, type Encryption } from "./file/encryption.js";
import { writeBackup } from "./file/write-file.js";
import { assertStore, checkOptions } from "./options.js";
import { assertReadable, type Part, storeParts, workspacesOf } from "./passes/source.js";
import { createStoreProgress, type ProgressListener } from "./progress.js";
import { withRetriedCalls } from "./retried-calls.js";

/** Options of {@link backup}. */
export interface BackupOptions {
  /** Without it, the file is compressed but readable. Recoverable secrets are encrypted by the vault in any case. */
  readonly encryption?: Encryption;
  readonly onProgress?: ProgressListener;
}

/** What a backup contains. */
export interface BackupReport {
  readonly workspaces: readonly string[];
  readonly counts: Counts;
}

/**
 * Writes everything in a store to a file. The store may keep serving: then each record in the file is a consistent snapshot, but not
 * all of the same moment. They are read in an order (`RECORD_LISTS`) in which no record reports as done what is missing from the file.
 *
 * If the store stops answering, such as during a failover, reads are repeated for half a minute.
 *
 * The file gets its name when it is completely on disk. It contains no plaintext secret, only hashes and secrets encrypted by the vault.
 *
 * @param path - The file, which must not exist yet.
 * @throws TypeError naming a wrong option.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the file exists, `STORE_CORRUPT` for a damaged record.
 */
export async function backup(
  store: KeyStore,
  path: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  assertStore("store", store);
  checkOptions("backup", options, { encryption: "object", onProgress: "function" });
  await assertKeys("encryption", options.encryption);
  const source = withRetriedCalls(store);
  await assertReadable(source);
  const workspaces = await workspacesOf(source);
  const onPart = await createStoreProgress("copying", options.onProgress, source, workspaces);
  const counts: Record<string, number> = {};
  const counted = watched(storeParts(source, workspaces), (part) => {
    count(counts, part);
    onPart(part);
  });
  await writeBackup(path, counted, Date.now(), options.encryption);
  return { workspaces, counts };
}

async function* watched(parts: AsyncIterable<Part>, watch: (part: Part) => void) {
  for await (const part of parts) {
    watch(part);
    yield part;
  }
}
