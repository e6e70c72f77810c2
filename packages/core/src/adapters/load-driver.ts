// Not `{ createRequire }`: webpack replaces every use of that name, and its replacement finds nothing.
import nodeModule from "node:module";
import { isAbsolute } from "node:path";
import { type LatchkeyError, unmet } from "../errors.js";

/**
 * Loads a package by a name that bundlers cannot see: otherwise they would refuse to build a program where the package is not installed.
 *
 * @param moduleUrl - `import.meta.url` of the file that needs it. In a bundle, it may be missing or wrong: the package is then looked for
 * from the bundle.
 * @throws The error of Node.js for a package that is not installed, or that cannot be loaded.
 */
export function requireFrom(moduleUrl: string | undefined, name: string): unknown {
  const bundle = commonJsFile();
  // `import.meta.url` is missing in a bundle of esbuild for CommonJS; in one of webpack it says where the file was when it was made.
  if (moduleUrl === undefined)
    return nodeModule.createRequire(bundle ?? process.argv[1] ?? "/")(name);
  try {
    return nodeModule.createRequire(moduleUrl)(name);
  } catch (error) {
    if (bundle === null || (error as { code?: unknown }).code !== "MODULE_NOT_FOUND") throw error;
    return nodeModule.createRequire(bundle)(name);
  }
}

/** This file, or the bundle that contains it, if that is CommonJS; otherwise null. `node -e` sets the name to a text that is no path. */
function commonJsFile(): string | null {
  try {
    return isAbsolute(__filename) ? __filename : null;
  } catch {
    // Not `typeof`: webpack replaces it with "string", and omits the name in ES modules.
    return null;
  }
}

interface NodeError {
  readonly code?: unknown;
  readonly message: string;
}

/**
 * The error to throw if the driver of a store cannot be loaded: `PRECONDITION_FAILED`, reason `driver-missing`, with the command to run, or
 * the error itself.
 *
 * @param adviceOn - Advice for an error, such as of an installed package; null for any other error.
 * @param wanted - What to install if it is missing, such as `name@version`. Default: `name`.
 */
export function driverError(
  name: string,
  error: unknown,
  adviceOn: (error: NodeError) => string | null = () => null,
  wanted: string = name,
): unknown {
  const { code, message } = error as NodeError;
  const advice = adviceOn({ code, message }) ?? missingAdvice({ code, message }, name, wanted);
  if (advice === null) return error;
  // Not as a cause, because it contains paths of this machine.
  return missing(advice, driverError);
}

/** The command to run if a driver is not installed; null for any other error. Yarn without `node_modules` has an error of its own. */
function missingAdvice({ code, message }: NodeError, name: string, wanted: string): string | null {
  if (code !== "MODULE_NOT_FOUND") return null;
  const command = message.includes(` tried to access ${name} `)
    ? "yarn add"
    : message.includes(`'${name}'`) && "npm install";
  return command ? `${name} is not installed: run \`${command} ${wanted}\`` : null;
}

/** Returns what `load` returns. @throws The {@link driverError} of its error. */
export function loadDriver<Driver>(name: string, load: () => Driver): Driver {
  try {
    return load();
  } catch (error) {
    throw driverError(name, error);
  }
}

/** `below`: the function in this file that the store called. */
function missing(message: string, below: (...args: never[]) => unknown): LatchkeyError {
  const error = unmet("driver-missing", message);
  // The stack begins in the store, because Node.js prints the line of code at the top, and lines of this bundle are long.
  Error.captureStackTrace?.(error, below);
  return error;
}

/** Fields of a driver's package.json. */
export interface DriverManifest {
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

/**
 * Refuses a driver for a later Node.js before it is loaded, because its binary could crash the process.
 *
 * @param describe - Reads the package.json.
 * @param node - Version of this Node.js.
 * @param earlier - What to install instead, as `name@version`.
 * @throws LatchkeyError `PRECONDITION_FAILED`, reason `driver-missing`, naming both versions.
 */
export function refuseLaterDriver(
  describe: () => DriverManifest,
  node: string,
  earlier: string,
): void {
  let manifest: DriverManifest;
  try {
    manifest = describe();
  } catch {
    // Loading the driver says what is wrong.
    return;
  }
  const { version, engines: { node: wanted = "" } = {} } = manifest;
  const least = Math.min(...wanted.split("||").map(leastMajor));
  if (Number.parseInt(node, 10) >= least) return;
  const [name] = earlier.split("@");
  throw missing(
    `${name} ${version} needs Node.js ${wanted}, and this is ${node}: run \`npm install ${earlier}\`, or use a later Node.js`,
    refuseLaterDriver,
  );
}

/** The least major version of a range such as `>=22`, `22.x` or `^22.12.0`; 0 for a range that names none. */
function leastMajor(range: string): number {
  const [, major = "0"] = /^(?:>=?|[\^~=])?\s*(\d+)/.exec(range.trim()) ?? [];
  return Number(major);
}
