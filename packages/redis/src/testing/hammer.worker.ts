// A process that verifies keys as long as it lives and keeps a journal, which survives its SIGKILL: a line for each question before it is
// asked, and one for each answer.
import { openSync, writeSync } from "node:fs";
import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { redisStore } from "../index.js";

const [url = "", journalPath = "", ...keys] = process.argv.slice(2);
const store = redisStore(url, { commandTimeoutMs: 1_000 });
const latchkey = createLatchkey({ store });
const journal = openSync(journalPath, "a");
let questions = 0;

async function spend(): Promise<void> {
  for (;;) {
    questions += 1;
    const question = questions;
    // All processes share the first key.
    const number = question % 2 === 0 ? 0 : Math.floor(Math.random() * keys.length);
    write("asked", question, number);
    try {
      const verdict = await latchkey.verifyKey({ key: keys[number] ?? "" });
      if (verdict.valid) write("admitted", question, number, verdict.remaining);
      else write("refused", question, number, verdict.code);
    } catch (error) {
      if (!(error instanceof LatchkeyError) || error.code !== "STORE_UNAVAILABLE") throw error;
      write(error.outcome === "unknown" ? "unknown" : "undone", question, number);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

function write(...words: readonly unknown[]): void {
  writeSync(journal, `${words.join(" ")} ${Date.now()}\n`);
}

await Promise.all(Array.from({ length: 4 }, spend));
