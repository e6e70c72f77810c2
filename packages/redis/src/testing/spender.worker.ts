// A process that spends uses of one key until there are none, and writes one line for each use that was admitted.
import { writeSync } from "node:fs";
import { createLatchkey } from "@latchkey/core";
import { redisStore } from "../index.js";

/** A failed call ends the process: on a machine that stalls for a while, answers are late. */
const TIMEOUTS = { commandTimeoutMs: 60_000, configTimeoutMs: 60_000 };
const [url = "", key = ""] = process.argv.slice(2);
const latchkey = createLatchkey({ store: redisStore(url, TIMEOUTS) });

async function spend(): Promise<void> {
  for (;;) {
    const verdict = await latchkey.verifyKey({ key });
    if (!verdict.valid) return;
    // Written before the next call: what process.stdout buffers for a busy reader is lost when this process is killed.
    writeSync(1, `${verdict.remaining}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, spend));
process.exit(0);
