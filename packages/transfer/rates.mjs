// Measures how fast keys are copied, and how long no key can be used during a live copy:
//   npm run build && node packages/transfer/rates.mjs <from url> <to url> <keys> [live]
// If the source is empty, it is first filled with that many keys. The target must be empty; with "" as the target, the script only fills
// the source. Prints one line: pair, keys, records a second of the first pass and of the proof, and with `live` how long the fence stood.
// During a live copy, the script keeps verifying keys, each time another one, and creating new ones.

import { performance } from "node:perf_hooks";
import { copy } from "@latchkey/transfer";
import { createLatchkey, openStore } from "../latchkey/dist/index.js";

const [fromUrl = "", toUrl = "", count = "10000", mode = ""] = process.argv.slice(2);
const from = openStore(fromUrl);
const lent = { ...from, close: async () => undefined };
const secrets = Array.from({ length: Number(count) }, (_, at) => `rates_${at}_${"x".repeat(24)}`);
let latchkey = createLatchkey({ store: lent, usage: { flushMs: 3_600_000 } });
const apiId = (await latchkey.listApis()).apis[0]?.id ?? (await fill());
// Closing writes the pending statistics: none may arrive while an idle source is copied.
await latchkey.close();
latchkey = createLatchkey({ store: lent, usage: false });
if (toUrl === "") {
  await from.close();
  process.exit();
}
const to = openStore(toUrl);

/** Creates the keys, and verifies every tenth. */
async function fill() {
  const { apiId } = await latchkey.createApi({ name: "rates" });
  const settings = {
    apiId,
    remaining: 1_000,
    ratelimit: { limit: 1_000_000, duration: 86_400_000 },
  };
  for (let at = 0; at < secrets.length; at += 100)
    await latchkey.createKeys(
      secrets.slice(at, at + 100).map((plaintext) => ({ plaintext, ...settings })),
    );
  for (let at = 0; at < secrets.length; at += 10) await latchkey.verifyKey({ key: secrets[at] });
  return apiId;
}

let admittedAt = 0;
let refusedAt = 0;
let verified = 0;
let written = 0;

/** Repeats `work`, with a pause in between, until the keys have moved. */
async function untilMoved(pauseMs, work) {
  for (let round = 0; ; round += 1) {
    try {
      await work(round);
    } catch (error) {
      if (error.reason !== "moved") throw error;
      refusedAt ||= performance.now();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function verify(round) {
  await latchkey.verifyKey({ key: secrets[(round * 7) % secrets.length] });
  admittedAt = performance.now();
  verified += 1;
}

async function write(round) {
  await latchkey.createKey({ apiId, name: `new ${round}`, remaining: 5 });
  written += 1;
}

const serving = mode === "live" ? [untilMoved(1, verify), untilMoved(100, write)] : [];
const rates = new Map();
const startedAt = performance.now();
const { counts, digest, fence } = await copy(from, to, {
  live: mode === "live",
  onProgress: ({ phase, perSecond }) => rates.set(phase, perSecond),
});
const seconds = (performance.now() - startedAt) / 1_000;
const back = performance.now();
await Promise.all(serving);
const records = Object.values(counts).reduce((sum, size) => sum + size, 0);
console.log(
  JSON.stringify({
    from: fromUrl.split(":")[0],
    to: toUrl.split(":")[0],
    keys: secrets.length,
    records,
    seconds: Number(seconds.toFixed(1)),
    copying: rates.get("copying"),
    verifying: rates.get("verifying"),
    digest: digest?.slice(0, 8),
    ...(fence && {
      fence,
      gapMs: Math.round(back - Math.min(admittedAt, refusedAt)),
      perSecond: Math.round(verified / seconds),
      written,
    }),
  }),
);
await Promise.all([from.close(), to.close()]);
