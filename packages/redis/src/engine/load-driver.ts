import { createRequire } from "node:module";
import { LatchkeyError } from "@latchkey/core";

type Driver = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

const require = createRequire(import.meta.url);
const NAME = "ioredis";

/**
 * ioredis, which is loaded with the first store that a URL opens and not before: whoever uses another store, or an open client,
 * does not wait for it. Where it is missing the error says which command mends that.
 *
 * @param load - Answers the driver. Tests hand in one that fails as a missing package does.
 */
export function loadDriver(load: () => Driver = () => require(NAME) as Driver): Driver {
  try {
    return load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" || !message.includes(`'${NAME}'`)) throw error;
    // Not as a cause: what stands in it is where the files of this machine are.
    const advice = `${NAME} is not installed: run \`npm install ${NAME}\``;
    throw new LatchkeyError("PRECONDITION_FAILED", advice, { reason: "driver-missing" });
  }
}
