import type { KeyStore } from "@latchkey/core";
import { type Counts, count } from "./counts.js";
import { assertKeys, type Encryption } from "./file/encryption.js";
import { writeBackup } from "./file/write-file.js";
import { assertReadable, type Part, storeParts, workspacesOf } from "./passes/source.js";
import { createStoreProgress, type ProgressListener } from "./progress.js";

/** Options of {@link backup}. */
export interface BackupOptions {
  /** Without it the file is compressed and readable. Secrets that can be recovered are sealed by the vault in any case. */
  readonly encryption?: Encryption;
  readonly onProgress?: ProgressListener;
}

/** What a backup holds. */
export interface BackupReport {
  readonly workspaces: readonly string[];
  readonly counts: Counts;
}

/**
 * Writes everything that a store holds to a file. The store may serve meanwhile: each record is then in the file as it was at one
 * moment, if not all at the same.
 *
 * The file has its name once all of it is on disk. It holds no secret as it was handed out: hashes, and what the vault has sealed.
 *
 * @param path - Of the file, which is not there yet.
 * @throws LatchkeyError `PRECONDITION_FAILED` where there is such a file, `STORE_CORRUPT` for a record that is damaged.
 */
export async function backup(
  store: KeyStore,
  path: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  await assertKeys(options.encryption);
  await assertReadable(store);
  const workspaces = await workspacesOf(store);
  const onPart = await createStoreProgress("copying", options.onProgress, store, workspaces);
  const counts: Record<string, number> = {};
  const counted = watched(storeParts(store, workspaces), (part) => {
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
