import { type KeyStore, LatchkeyError, STATE_ADDRESS, stateOf } from "@latchkey/core";
import { type Counts, count } from "./counts.js";
import { assertKeys, type Encryption } from "./file/encryption.js";
import { writeBackup } from "./file/write-file.js";
import { assertStore, checkOptions } from "./options.js";
import { assertReadable, type Part, storeParts, workspacesOf } from "./passes/source.js";
import { createStoreProgress, type ProgressListener } from "./progress.js";
import { readLogEnd } from "./records/log-end.js";
import { withRetriedCalls } from "./retried-calls.js";
import { assertUsed } from "./state.js";

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
 * @throws LatchkeyError `PRECONDITION_FAILED` if the file exists, `STORE_CORRUPT` for a damaged record; `STORE_UNAVAILABLE` or `CONFLICT`
 * if a workspace is deleted meanwhile.
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
  const counted = watched(wholeParts(source, workspaces), (part) => {
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

/** Everything in these workspaces. @throws LatchkeyError if one is deleted while it is read: the rest of it must not look like all of it. */
async function* wholeParts(store: KeyStore, workspaceIds: readonly string[]): AsyncGenerator<Part> {
  let reading: { readonly workspaceId: string; readonly before: Trace } | null = null;
  for await (const part of storeParts(store, workspaceIds)) {
    if (part.kind === "workspace") {
      const { workspaceId } = part;
      reading = { workspaceId, before: await readTrace(store, workspaceId) };
    }
    if (part.kind === "windows" && reading !== null) {
      const { workspaceId, before } = reading;
      const now = await readTrace(store, workspaceId);
      if (now.logEnd < before.logEnd || (now.revision === 0 && before.revision > 0))
        throw new LatchkeyError(
          "CONFLICT",
          `the workspace ${workspaceId} was deleted, or lost its latest changes, while it was read: make another backup`,
        );
    }
    yield part;
  }
}

/** Numbers that only go down if a workspace is deleted, or if the store loses changes. */
interface Trace {
  readonly logEnd: number;
  /** 0 for a workspace without one. */
  readonly revision: number;
}

/** @throws LatchkeyError `STORE_UNAVAILABLE` if the workspace is being deleted. */
async function readTrace(store: KeyStore, workspaceId: string): Promise<Trace> {
  const logEnd = await readLogEnd(store, workspaceId);
  const { revision, found } = await store.read(workspaceId, [STATE_ADDRESS]);
  const state = stateOf(found[0] ?? null);
  if (state?.state === "deleting") assertUsed(workspaceId, state.state);
  return { logEnd, revision };
}
