// Requests reports for several clients, kills the server in the middle of some, and starts it again. After each step, it shows where the
// granted words of the key are: left, held, or told.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createLatchkey, openStore } from "latchkey";
import { startServer } from "./children.mjs";

const GRANTED = 1_000;

const folder = mkdtempSync(join(tmpdir(), "latchkey-metered-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
const storeUrl = `sqlite:${join(folder, "keys.db")}`;
const latchkey = createLatchkey({ store: openStore(storeUrl) });
const { apiId } = await latchkey.createApi({ name: "weather-reports" });
const { key, keyId } = await latchkey.createKey({ apiId, remaining: GRANTED });

/** Words of completed reports, as their clients counted them. */
let told = 0;

/** The words left of the grant, and those held. */
async function figures() {
  const { remaining, reserved = 0 } = await latchkey.getKey({ keyId });
  return { remaining: remaining ?? 0, reserved };
}

/** Requests a report. Resolves at its start: the status, and later its number of words; null if it broke off. @param {number} words */
async function ask(words) {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${server.url}/reports/${words}`, { headers });
  const heard = response.text().then(
    (text) => text.trim().split(" ").length,
    () => null,
  );
  return { status: response.status, heard };
}

/** Requests a report, reads it to its end, and returns the status. @param {number} words */
async function listen(words) {
  const { status, heard } = await ask(words);
  const count = await heard;
  if (status === 200) told += count ?? 0;
  return status;
}

/** Prints where the words are. None is lost, and none is counted twice. @param {string} step */
async function show(step) {
  const { remaining, reserved } = await figures();
  const sum = [remaining, reserved, told].map((figure) => `${figure}`.padStart(5)).join(" +");
  console.log(`${step.padEnd(48)}${sum} = ${remaining + reserved + told}`);
  if (remaining + reserved + told !== GRANTED) process.exitCode = 1;
}

let isWatching = true;
/** Checks continuously that clients never get more than was granted, and that the server never takes what does not exist. */
const watching = (async () => {
  while (isWatching) {
    const { remaining, reserved } = await figures();
    if (remaining < 0 || reserved < 0 || remaining + reserved > GRANTED) process.exitCode = 1;
    await pause(20);
  }
})();

let server = await startServer(storeUrl);
console.log(`${"".padEnd(49)}left + held + told`);
await show("nobody has asked");
await Promise.all([190, 190, 190].map(ask));
await show("three long reports are being told");
await Promise.all([60, 30].map(listen));
await show("two short ones were told");
const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await ask(190)).status));
const admitted = statuses.filter((status) => status === 200).length;
await show(`ten at once want a long one: ${admitted} may, ${10 - admitted} get 429`);

await server.end("SIGKILL");
await show("the server is killed");
server = await startServer(storeUrl);
while ((await figures()).reserved > 0) await pause(50);
await show("it runs again, and 5 seconds have passed");

let status = 200;
while (status === 200) status = await listen(95);
await show(`short ones are told until one gets ${status}`);

isWatching = false;
await watching;
await server.end("SIGTERM");
await latchkey.close();
console.log(
  process.exitCode === 1
    ? "not all words were where they belong"
    : "no word was lost, and none was told twice",
);
