// A process that spends uses of one key until there are none, and writes one line for each use that was admitted.
import { createLatchkey } from "@latchkey/core";
import { redisStore } from "../index.js";

const [url = "", key = ""] = process.argv.slice(2);
const latchkey = createLatchkey({ store: redisStore(url) });

async function spend(): Promise<void> {
  for (;;) {
    const verdict = await latchkey.verifyKey({ key });
    if (!verdict.valid) return;
    process.stdout.write(`${verdict.remaining}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, spend));
process.exit(0);
