import { LatchkeyError } from "../errors.js";

/** An error of Node.js. */
interface NodeError {
  readonly code?: unknown;
  readonly message: string;
}

/**
 * What to throw where the driver of a store cannot be loaded: a `LatchkeyError` `PRECONDITION_FAILED`, reason `driver-missing`, with the
 * command that mends it, or the error itself. Its stack begins with the store: Node.js prints the line of code that a stack begins
 * with, and those of this bundle are long.
 *
 * @param adviceOn - What mends an error of a package that is there and does not work; null for any other error.
 */
export function driverError(
  name: string,
  error: unknown,
  adviceOn: (error: NodeError) => string | null = () => null,
): unknown {
  const { code, message } = error as NodeError;
  const isMissing = code === "MODULE_NOT_FOUND" && message.includes(`'${name}'`);
  const install = isMissing ? `${name} is not installed: run \`npm install ${name}\`` : null;
  const advice = install ?? adviceOn({ code, message });
  if (advice === null) return error;
  // Not as a cause: what stands in it is where the files of this machine are.
  return missing(advice, driverError);
}

/** What `load` answers. @throws What {@link driverError} makes of an error. */
export function loadDriver<Driver>(name: string, load: () => Driver): Driver {
  try {
    return load();
  } catch (error) {
    throw driverError(name, error);
  }
}

/** @param below - The function of this file that the store called. */
function missing(message: string, below: (...args: never[]) => unknown): LatchkeyError {
  const error = new LatchkeyError("PRECONDITION_FAILED", message, { reason: "driver-missing" });
  Error.captureStackTrace?.(error, below);
  return error;
}

/** What the package.json of a driver says of it. */
export interface DriverManifest {
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

/**
 * Refuses a driver that is made for a later Node.js than this, before it is loaded: its binary may end the process without a word.
 *
 * @param describe - Reads the package.json. Where that fails, loading the driver says what is wrong.
 * @param node - Version of this Node.js.
 * @param earlier - What to install in its place, as `name@version`.
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
    return;
  }
  const { version, engines: { node: wanted = "" } = {} } = manifest;
  const [, least = "0"] = /^>=\s*(\d+)/.exec(wanted) ?? [];
  if (Number.parseInt(node, 10) >= Number(least)) return;
  const [name] = earlier.split("@");
  throw missing(
    `${name} ${version} needs Node.js ${wanted}, and this is ${node}: run \`npm install ${earlier}\`, or use a later Node.js`,
    refuseLaterDriver,
  );
}
