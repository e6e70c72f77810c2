import { randomBytes } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

// The entry `@latchkey/transfer/new-file`: the command line writes exports with it. It is not meant for others.

/** A name may have 255 bytes, of which the rest of a partial file's takes 25. A character takes up to three. */
const LONGEST_START = 76;

/** What `link` says where a file system has no hard links, such as exFAT, and mounts of network drives and of object stores. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/** What a folder says that cannot be flushed, as on Windows and on some network drives: it writes its names by itself. */
const WITHOUT_FLUSH: ReadonlySet<unknown> = new Set(["EPERM", "EINVAL", "ENOTSUP", "EISDIR"]);

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

/**
 * The name of a file that is not whole yet: `<path>.<random>.partial`, in the same folder. Random, and to be created anew: at a known
 * name, somebody could have put a link, or a file that everybody may read.
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

/** The name is taken with an empty file first, which then is replaced. */
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
