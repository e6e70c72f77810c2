import { createRequire } from "node:module";
import { LatchkeyError } from "@latchkey/core";
import type { SqliteDatabase } from "./database.js";

/** What better-sqlite3 exports. */
export type Driver = new (
  path: string,
  options: { readonly timeout: number; readonly fileMustExist: boolean },
) => SqliteDatabase;

const require = createRequire(import.meta.url);
const NAME = "better-sqlite3";

/**
 * Opens a database with better-sqlite3, which is loaded now and not before: whoever uses another store needs none. Where it is
 * missing, or its binary was not built or is for another Node.js, the error says which command mends that. `load` is for tests.
 */
export function openWithDriver(
  path: string,
  options: ConstructorParameters<Driver>[1],
  load: () => Driver = () => require(NAME) as Driver,
): SqliteDatabase {
  try {
    return new (load())(path, options);
  } catch (error) {
    const advice = adviceOn(error as NodeJS.ErrnoException);
    if (advice === null) throw error;
    throw new LatchkeyError("PRECONDITION_FAILED", advice, { reason: "driver-missing" });
  }
}

function adviceOn({ code, message }: NodeJS.ErrnoException): string | null {
  if (code === "MODULE_NOT_FOUND" && message.includes(`'${NAME}'`))
    return `better-sqlite3 is not installed: run \`npm install ${NAME}\``;
  if (code === "ERR_DLOPEN_FAILED")
    return `the binary of better-sqlite3 is for another Node.js or machine: run \`npm rebuild ${NAME}\``;
  if (!message.startsWith("Could not locate the bindings file")) return null;
  // pnpm, whose folder this is, runs the install scripts of no packages but those that were approved.
  const command = /[\\/]\.pnpm[\\/]/.test(message) ? "pnpm approve-builds" : `npm rebuild ${NAME}`;
  return `better-sqlite3 has no binary, since its install script did not run: run \`${command}\``;
}
