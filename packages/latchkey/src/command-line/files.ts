import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./failures.js";

/** What is wrong with a path, by error code of Node and of SQLite. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "there is no"],
  ["ENOTDIR", "there is no"],
  ["SQLITE_CANTOPEN", "there is no"],
  ["SQLITE_CANTOPEN_ISDIR", "a folder is"],
  ["EISDIR", "a folder is"],
  ["EEXIST", "there is already"],
  ["EACCES", "this user may not use"],
  ["EPERM", "this user may not use"],
  ["EROFS", "nobody may write to"],
  ["ENAMETOOLONG", "there is a name that is too long in"],
  ["ELOOP", "there are links that lead in a circle at"],
]);

/**
 * Runs `work` with a file that an argument names.
 *
 * @throws UsageError naming the argument, if the file does not exist or cannot be used.
 */
export async function withFile<Value>(
  argument: string,
  path: string,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const reason = REASONS.get((error as NodeJS.ErrnoException).code);
    if (reason === undefined) throw error;
    throw unusable(argument, reason, path);
  }
}

/** @throws UsageError naming the argument, unless the file exists, or its folder does for a new file. */
export function assertPath(argument: string, path: string, isMade: boolean): void {
  const [needed, reason] = isMade
    ? [dirname(path), "there is no folder"]
    : [path, "there is no file"];
  if (!existsSync(needed)) throw unusable(argument, reason, needed);
}

/** @throws UsageError naming the argument, if the path is `-`: a pipe that expects the file would get only what is printed besides. */
export function assertNotStdout(argument: string, path: string): void {
  if (path === "-")
    throw new UsageError(`${argument} must name a file: - is not stdout here, and ./- is a file`);
}

/** @throws UsageError naming the argument, if there is a file already, or the path is `-`. */
export function assertNew(argument: string, path: string): void {
  assertNotStdout(argument, path);
  if (existsSync(path)) throw unusable(argument, "there is already", path);
}

/** @throws UsageError naming the argument, if a file that would be replaced is one of `others`. */
export function assertOwn(argument: string, path: string, others: readonly string[]): void {
  if (others.some((other) => isSameFile(path, other)))
    throw new UsageError(`${argument} must name another file: this command also uses ${path}`);
}

/** Whether two paths lead to the same file. */
function isSameFile(one: string, other: string): boolean {
  if (!existsSync(one) || !existsSync(other)) return false;
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true }));
  return a?.ino === b?.ino && a?.dev === b?.dev;
}

function unusable(argument: string, reason: string, path: string): UsageError {
  return new UsageError(`${argument} must name a file that can be used: ${reason} ${path}`);
}

/** @throws UsageError naming the argument, unless a file or a pipe can be read there. Reads nothing, because a pipe gives it only once. */
export function assertReadable(argument: string, path: string): Promise<void> {
  return withFile(argument, path, () => {
    accessSync(path, constants.R_OK);
    if (statSync(path).isDirectory()) throw unusable(argument, "a folder is", path);
  });
}
