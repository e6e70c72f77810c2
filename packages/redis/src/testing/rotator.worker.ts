// A process that rotates keys on request: it reads one id per line, and answers each with the id of the successor that it made, or "-" if
// another process was first.
import { createInterface } from "node:readline";
import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { redisStore } from "../index.js";

/** A failed call ends the process: on a machine that stalls for a while, answers are late. */
const TIMEOUTS = { commandTimeoutMs: 60_000, configTimeoutMs: 60_000 };
const [url = ""] = process.argv.slice(2);
const latchkey = createLatchkey({ store: redisStore(url, TIMEOUTS) });
await latchkey.isWorkspaceEnabled();
process.stdout.write("ready\n");

for await (const keyId of createInterface({ input: process.stdin })) {
  const successor = await latchkey.rotateKey({ keyId, graceMs: 60_000 }).then(
    (made) => made.keyId,
    (error: unknown) => {
      if (error instanceof LatchkeyError && error.code === "CONFLICT") return "-";
      throw error;
    },
  );
  process.stdout.write(`${successor}\n`);
}
process.exit(0);
