// A process that spends uses of one key until there are none, and writes one line for each use that was admitted.
import { writeSync } from "node:fs";
import { createLatchkey } from "@latchkey/core";
import { redisStore } from "../index.js";

/** It ends with a call that fails: on a machine that stands still for a while, answers are late. */
const TIMEOUTS = { commandTimeoutMs: 60_000, configTimeoutMs: 60_000 };
const [url = "", key = ""] = process.argv.slice(2);
const latchkey = createLatchkey({ store: redisStore(url, TIMEOUTS) });

async function spend(): Promise<void> {
  for (;;) {
    const verdict = await latchkey.verifyKey({ key });
    if (!verdict.valid) return;
    // Before the next one: what process.stdout keeps for a reader that is busy is lost when this process is killed.
    writeSync(1, `${verdict.remaining}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, spend));
process.exit(0);
