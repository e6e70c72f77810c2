import { type DriverManifest, driverError, refuseLaterDriver, requireFrom } from "@latchkey/core";
import type { SqliteDatabase } from "./database.js";

/** The constructor that better-sqlite3 exports. */
export type Driver = new (
  path: string,
  options: { readonly timeout: number; readonly fileMustExist: boolean },
) => SqliteDatabase;

const required = (name: string): unknown => requireFrom(import.meta.url, name);
const NAME = "better-sqlite3";
/** The last major version for Node.js 20. */
const EARLIER = `${NAME}@12`;
/** Runtimes on which better-sqlite3 does not run. `id`: their key in `process.versions`. */
const RUNTIMES_WITHOUT = [
  { id: "bun", name: "Bun" },
  { id: "deno", name: "Deno" },
];

/**
 * Opens a database with better-sqlite3, which may be missing, not built, or made for another Node.js. `load` and `describe` are for tests.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED`, reason `driver-missing`, with the command that fixes it.
 */
export function openWithDriver(
  path: string,
  options: ConstructorParameters<Driver>[1],
  load: () => Driver = () => required(NAME) as Driver,
  describe: () => DriverManifest = () => required(`${NAME}/package.json`) as DriverManifest,
): SqliteDatabase {
  try {
    refuseLaterDriver(describe, process.versions.node, EARLIER);
    return new (load())(path, options);
  } catch (error) {
    const isNode20 = Number.parseInt(process.versions.node, 10) < 22;
    throw driverError(NAME, error, adviceOn, isNode20 ? EARLIER : NAME);
  }
}

function adviceOn({ code, message }: { readonly code?: unknown; readonly message: string }) {
  const runtime = RUNTIMES_WITHOUT.find(({ id }) => process.versions[id] !== undefined);
  const cannotLoad = code === "ERR_DLOPEN_FAILED" || message.startsWith("Cannot load native addon");
  if (runtime !== undefined && (cannotLoad || code === "MODULE_NOT_FOUND"))
    return `the SQLite store needs better-sqlite3, which does not run on ${runtime.name}: use Node.js, or another store`;
  if (code === "ERR_DLOPEN_FAILED")
    return `the binary of better-sqlite3 is for another Node.js or machine: run \`npm rebuild ${NAME}\``;
  if (code === "ERR_DLOPEN_DISABLED")
    return "Node.js may not load the binary of better-sqlite3: allow addons with `--allow-addons`, or leave `--no-addons` out";
  if (!message.startsWith("Could not locate the bindings file")) return null;
  // The folder is pnpm's, which runs install scripts of approved packages only.
  const command = /[\\/]\.pnpm[\\/]/.test(message) ? "pnpm approve-builds" : `npm rebuild ${NAME}`;
  return `better-sqlite3 has no binary, since its install script did not run: run \`${command}\``;
}
