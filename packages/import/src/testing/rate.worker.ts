// Measures the rate and the memory of an import: npm run build, then
//   node packages/import/dist/testing/rate.worker.js <rows> [memory|sqlite]
// It writes a file of that many keys, imports it twice, and exports the keys.

import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { exportText } from "../export-format.js";
import { exportKeys } from "../export-keys.js";
import { importKeys } from "../import-keys.js";
import { openSource } from "../open-source.js";
import { hashOf } from "./imports.js";

const [count = "100000", kind = "sqlite"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "latchkey-rate-"));
const file = join(folder, "keys.csv");
let peakBytes = 0;

function* rows(): Generator<string> {
  yield "hash,start,name,externalId,permissions,remaining,createdAt,expires,meta\n";
  for (let at = 0; at < Number(count); at += 1)
    yield `${hashOf(`tide_${at}`)},tide_,key ${at},user-${at % 1_000},tides.read tides.write,1000,2025-01-31T08:00:00Z,2036-01-31T08:00:00Z,"{""berth"":${at}}"\n`;
}

/** Runs `work`, and prints its rows, their rate, and the peak memory of this process. */
async function measure(what: string, work: () => Promise<number>): Promise<void> {
  peakBytes = 0;
  const startedAt = performance.now();
  const done = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  const megabytes = Math.round(peakBytes / 2 ** 20);
  process.stdout.write(
    `${what}: ${done} rows, ${Math.round(done / seconds)} a second, at most ${megabytes} MB resident\n`,
  );
}

function sample(): void {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}

try {
  await pipeline(Readable.from(rows()), createWriteStream(file));
  const store = kind === "memory" ? memoryStore() : sqliteStore(join(folder, "keys.db"));
  const latchkey = createLatchkey({ store });
  for (const what of ["dry run", "import", "import again"])
    await measure(what, async () => {
      let done = 0;
      const dryRun = what === "dry run";
      const from = openSource("csv", file);
      for await (const { rows } of importKeys({ from, into: latchkey, apiName: "tides", dryRun })) {
        done = rows;
        sample();
      }
      return done;
    });
  await measure("export", async () => {
    let done = 0;
    for await (const { keys, exported } of exportKeys({ from: latchkey })) {
      exportText("jsonl", keys);
      done = exported;
      sample();
    }
    return done;
  });
  await latchkey.close();
} finally {
  rmSync(folder, { recursive: true });
}
