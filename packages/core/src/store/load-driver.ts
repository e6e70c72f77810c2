import { LatchkeyError } from "../errors.js";

/** An error of Node.js. */
interface NodeError {
  readonly code?: unknown;
  readonly message: string;
}

/**
 * Loads the driver of a store with the first store that needs it.
 *
 * @param adviceOn - What mends an error of a package that is there and does not work; null for any other error.
 * @throws LatchkeyError `PRECONDITION_FAILED`, reason `driver-missing`, with the command that mends it.
 */
export function loadDriver<Driver>(
  name: string,
  load: () => Driver,
  adviceOn: (error: NodeError) => string | null = () => null,
): Driver {
  try {
    return load();
  } catch (error) {
    const { code, message } = error as NodeError;
    const isMissing = code === "MODULE_NOT_FOUND" && message.includes(`'${name}'`);
    const install = isMissing ? `${name} is not installed: run \`npm install ${name}\`` : null;
    const advice = install ?? adviceOn({ code, message });
    if (advice === null) throw error;
    // Not as a cause: what stands in it is where the files of this machine are.
    throw new LatchkeyError("PRECONDITION_FAILED", advice, { reason: "driver-missing" });
  }
}
