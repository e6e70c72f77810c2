import { randomBytes } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

// The entry `@latchkey/transfer/new-file`, with which the command line writes exports. It is not meant for other use.

/** In characters of up to three bytes. A file name may have 255 bytes, and the rest of a partial file's name takes 25. */
const LONGEST_START = 76;

/** Errors of `link` on file systems without hard links, such as exFAT and mounted network drives or object stores. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/** Errors of flushing a folder on Windows and some network drives. The system writes its names by itself there. */
const WITHOUT_FLUSH: ReadonlySet<unknown> = new Set(["EPERM", "EINVAL", "ENOTSUP", "EISDIR"]);

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

/**
 * The name of an incomplete file: `<path>.<random>.partial`, in the same folder. It is random, and callers must create the file anew: at a
 * predictable name, somebody could have put a link, or a file that everybody may read.
 */
export function partialPathOf(path: string): string {
  const start = basename(path).slice(0, LONGEST_START);
  return join(dirname(path), `${start}.${randomBytes(8).toString("hex")}.partial`);
}

/**
 * Gives a file its name, when all of it is on disk. Resolves when the name is on disk, too. The partial name may still be there: delete
 * it then.
 *
 * @throws Error with the code `EEXIST`, if there is a file of that name. It is left as it is.
 */
export async function giveName(partial: string, path: string): Promise<void> {
  try {
    // A link, not a rename, which would replace a file that has appeared meanwhile.
    await link(partial, path);
  } catch (error) {
    if (!WITHOUT_LINKS.has(codeOf(error))) throw error;
    await renameToFree(partial, path);
  }
  await flushFolder(dirname(path));
}

/** Claims the name with an empty file, then replaces that. */
async function renameToFree(partial: string, path: string): Promise<void> {
  await (await open(path, "wx", 0o600)).close();
  try {
    await rename(partial, path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } catch (error) {
    if (!WITHOUT_FLUSH.has(codeOf(error))) throw error;
  } finally {
    await folder.close();
  }
}
