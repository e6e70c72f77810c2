import { createRequire } from "node:module";
import { LatchkeyError } from "@latchkey/core";
import type { SqliteDatabase } from "./database.js";
import { sqliteCode } from "./errors.js";

/** Opens databases: the class that better-sqlite3 exports. */
export type Driver = new (
  path: string,
  options: { readonly timeout: number; readonly fileMustExist: boolean },
) => SqliteDatabase;

const require = createRequire(import.meta.url);
const NAME = "better-sqlite3";

/**
 * Opens a database with better-sqlite3, which is loaded now and not before: whoever uses another store needs none.
 *
 * @param load - Answers the driver. Tests hand in one that fails as a missing package or a missing binary does.
 * @throws LatchkeyError `PRECONDITION_FAILED` with the command that mends it, where the package is missing, or its binary
 * was not built or is of another version of Node.js.
 */
export function openWithDriver(
  path: string,
  options: { readonly timeout: number; readonly fileMustExist: boolean },
  load: () => Driver = () => require(NAME) as Driver,
): SqliteDatabase {
  try {
    return new (load())(path, options);
  } catch (error) {
    const advice = adviceOn(error);
    if (advice === null) throw error;
    throw new LatchkeyError("PRECONDITION_FAILED", advice);
  }
}

function adviceOn(error: unknown): string | null {
  if (!(error instanceof Error) || sqliteCode(error) !== null) return null;
  const code = "code" in error ? error.code : undefined;
  if (code === "MODULE_NOT_FOUND" && error.message.includes(`'${NAME}'`))
    return `better-sqlite3 is not installed: run \`npm install ${NAME}\``;
  if (code === "ERR_DLOPEN_FAILED")
    return `the binary of better-sqlite3 was built for another Node.js or machine: run \`npm rebuild ${NAME}\``;
  if (error.message.startsWith("Could not locate the bindings file"))
    return `better-sqlite3 has no binary, since its install script did not run: run \`${rebuildCommand(error)}\``;
  return null;
}

/** pnpm runs no install scripts but those that were approved; it keeps packages in a folder of that name. */
function rebuildCommand({ message }: Error): string {
  return /[\\/]\.pnpm[\\/]/.test(message) ? "pnpm approve-builds" : `npm rebuild ${NAME}`;
}
