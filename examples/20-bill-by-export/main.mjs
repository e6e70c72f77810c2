// A service that sells map tiles bills its customers by use. The job that sends rows to the meter is killed halfway, and runs again.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createLatchkey, openStore } from "latchkey";

const folder = mkdtempSync(join(tmpdir(), "latchkey-billing-"));
const STORE = `sqlite:${join(folder, "keys.db")}`;
const UNTIL_FILE = join(folder, "billed-until");
const NOON = Date.UTC(2030, 0, 15, 12);
const HOUR = 3_600_000;

// The service: a request costs one use or several. Counts are part of each charge, so that no crash loses one.
let now = NOON;
const options = { store: openStore(STORE), clock: () => now, usage: { durable: true } };
const latchkey = createLatchkey(options);
const { apiId } = await latchkey.createApi({ name: "map tiles" });
const customers = await Promise.all(
  ["Harbour Charts", "Night Buses", "Trail Maps"].map(async (externalId) => {
    const { key } = await latchkey.createKey({ apiId, externalId });
    return { externalId, key };
  }),
);

/** Two hours in which each customer asks for tiles. */
async function serveTwoHours() {
  for (let hour = 0; hour < 2; hour += 1) {
    for (const [index, { key }] of customers.entries())
      for (let tile = 0; tile <= index; tile += 1)
        await latchkey.verifyKey({ key, remaining: { cost: 1 + tile } });
    now += HOUR;
  }
}

// The meter: it receives a row at least once, and keeps one for each id.
/** @type {Map<string, { readonly externalId: string, readonly uses: number }>} */
const rows = new Map();
const seen = { sent: 0, known: 0, killAfter: 0 };
const meter = createServer(async (request, response) => {
  const { id, ...row } = /** @type {any} */ (await json(request));
  seen.sent += 1;
  if (rows.has(id)) seen.known += 1;
  rows.set(id, row);
  // The row was received, but the answer is lost.
  if (seen.sent === seen.killAfter) job?.kill("SIGKILL");
  else response.writeHead(204).end();
});
meter.listen(0, "127.0.0.1");
await once(meter, "listening");
const address = meter.address();
if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
const METER = `http://127.0.0.1:${address.port}/`;

/** @type {import("node:child_process").ChildProcess | undefined} */
let job;

/** Runs the job, and prints what reached the meter. @param {string} step @param {number} killAfter */
async function bill(step, killAfter = 0) {
  Object.assign(seen, { sent: 0, known: 0, killAfter });
  job = spawn(process.execPath, [join(import.meta.dirname, "job.mjs")], {
    env: { ...process.env, STORE, METER, UNTIL_FILE, START: String(NOON), NOW: String(now) },
    stdio: "inherit",
  });
  await once(job, "exit");
  const { sent, known } = seen;
  console.log(`${step.padEnd(26)} ${sent} rows, of which the meter had ${known}`);
}

await serveTwoHours();
now += HOUR;
await bill("killed at the fourth row", 4);
await bill("again");
await bill("once more, with no news");
await serveTwoHours();
now += HOUR;
await bill("two hours later");

for (const { externalId } of customers) {
  const own = [...rows.values()].filter((row) => row.externalId === externalId);
  const uses = own.reduce((sum, row) => sum + row.uses, 0);
  console.log(`${externalId.padEnd(26)} pays for ${uses} uses`);
}

meter.close();
await latchkey.close();
rmSync(folder, { recursive: true });
