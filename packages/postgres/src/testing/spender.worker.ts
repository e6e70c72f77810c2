import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { postgresStore } from "../index.js";

// Verifies one key over and over, and prints the result of each call: `+` and the uses left, or `?` if the outcome is unknown.
const [url = "", key = ""] = process.argv.slice(2);
const latchkey = createLatchkey({ store: postgresStore(url), usage: false });

async function spend(): Promise<never> {
  for (;;) {
    try {
      const verdict = await latchkey.verifyKey({ key });
      if (verdict.valid) process.stdout.write(`+${verdict.remaining}\n`);
    } catch (error) {
      const isUnknown = error instanceof LatchkeyError && error.outcome === "unknown";
      if (isUnknown) process.stdout.write("?\n");
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await Promise.all(Array.from({ length: 4 }, spend));
