import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createLatchkey, redisStore } from "latchkey";
import { findRedis } from "./redis.mjs";

const LIMIT = 100;
const REQUESTS_PER_SERVER = 200;
const IN_FLIGHT = 8;
// Long enough that no window ends while this runs.
const CENTURY_MS = 100 * 365 * 24 * 60 * 60 * 1000;

const redis = await findRedis();
const keyPrefix = `fleet-${randomUUID()}`;
/** @type {import("node:child_process").ChildProcess[]} */
const fleet = [];
process.on("exit", () => {
  for (const server of fleet) server.kill("SIGKILL");
  redis.stop();
});

// One customer with two keys, which share one limit.
const latchkey = createLatchkey({
  store: redisStore(redis.url, { keyPrefix, configTimeoutMs: 10_000 }),
});
const { apiId } = await latchkey.createApi({ name: "weather" });
await latchkey.createIdentity({
  externalId: "ferry-line",
  ratelimits: [{ name: "forecasts", limit: LIMIT, duration: CENTURY_MS }],
});
const keys = await Promise.all(
  [1, 2].map(async () => (await latchkey.createKey({ apiId, externalId: "ferry-line" })).key),
);

const ports = await Promise.all([startServer(), startServer()]);
const tallies = await Promise.all(ports.map(callServer));

console.log(
  `${LIMIT} forecasts for one customer, asked for ${2 * REQUESTS_PER_SERVER} times through two servers\n`,
);
console.table(
  Object.fromEntries([
    ...tallies.map((tally, index) => [`server ${index + 1}`, tally]),
    ["together", sum(tallies)],
  ]),
);

await latchkey.deleteApi({ apiId });
await latchkey.close();
const { admitted, refused, failed } = sum(tallies);
const isExact = admitted === LIMIT && refused === 2 * REQUESTS_PER_SERVER - LIMIT && failed === 0;
console.log(isExact ? "exactly the limit" : `expected exactly ${LIMIT} admitted`);
process.exit(isExact ? 0 : 1);

/** @typedef {{ admitted: number, refused: number, failed: number }} Tally */

/** Starts a server of the fleet, and returns its port. @returns {Promise<number>} */
async function startServer() {
  const child = spawn(
    process.execPath,
    [...process.execArgv, new URL("server.mjs", import.meta.url).pathname],
    {
      env: { ...process.env, REDIS_URL: redis.url, KEY_PREFIX: keyPrefix },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  fleet.push(child);
  const [line] = await once(child.stdout, "data");
  return Number(String(line));
}

/** Keeps some requests in flight until all are done, alternating between the keys. @param {number} port @returns {Promise<Tally>} */
async function callServer(port) {
  const tally = { admitted: 0, refused: 0, failed: 0 };
  let asked = 0;
  async function askOn() {
    while (asked < REQUESTS_PER_SERVER) {
      asked += 1;
      const headers = { Authorization: `Bearer ${keys[asked % keys.length]}` };
      const { status } = await fetch(`http://127.0.0.1:${port}/`, { headers });
      if (status === 200) tally.admitted += 1;
      else if (status === 429) tally.refused += 1;
      else tally.failed += 1;
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, askOn));
  return tally;
}

/** @param {readonly Tally[]} all @returns {Tally} */
function sum(all) {
  return all.reduce((one, other) => ({
    admitted: one.admitted + other.admitted,
    refused: one.refused + other.refused,
    failed: one.failed + other.failed,
  }));
}
