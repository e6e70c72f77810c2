import { LatchkeyError } from "../errors.js";

/** An error of Node.js. */
interface NodeError {
  readonly code?: unknown;
  readonly message: string;
}

/**
 * Loads the driver of a store with the first store that needs it: whoever uses another one does not wait for it.
 *
 * @param name - Of its package.
 * @param load - Loads it, and may open something with it.
 * @param adviceOn - What mends an error of a package that is there and does not work; null for an error that is about something else.
 * @throws LatchkeyError `PRECONDITION_FAILED`, reason `driver-missing`: the message has the command that mends it.
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
