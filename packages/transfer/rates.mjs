// How fast keys are copied, and how long nobody can use them when they move:
//   npm run build && node packages/transfer/rates.mjs <from url> <to url> <keys> [live]
// Both stores must be empty. Prints one line: pair, keys, records a second of the first pass and of the proof, and with `live` how long
// the fence stood, while some hundred verifications a second went on, each of another key.

import { performance } from "node:perf_hooks";
import { copy } from "@latchkey/transfer";
import { createLatchkey, openStore } from "../latchkey/dist/index.js";

const [fromUrl = "", toUrl = "", count = "10000", mode = ""] = process.argv.slice(2);
const [from, to] = [fromUrl, toUrl].map((url) => openStore(url));
const lent = { ...from, close: async () => undefined };
let latchkey = createLatchkey({ store: lent, usage: { flushMs: 3_600_000 } });
const { apiId } = await latchkey.createApi({ name: "rates" });
const secrets = [];
for (let made = 0; made < Number(count); made += 100) {
  const keys = Array.from({ length: Math.min(100, Number(count) - made) }, (_, number) => {
    const secret = `rates_${made + number}_${"x".repeat(24)}`;
    secrets.push(secret);
    return {
      plaintext: secret,
      apiId,
      remaining: 1_000,
      ratelimit: { limit: 1_000_000, duration: 86_400_000 },
    };
  });
  await latchkey.createKeys(keys);
}
for (let at = 0; at < secrets.length; at += 10) await latchkey.verifyKey({ key: secrets[at] });
// With its statistics written, and without any that would come while an idle source is copied.
await latchkey.close();
latchkey = createLatchkey({ store: lent, usage: false });

let admittedAt = 0;
let refusedAt = 0;
let verified = 0;
async function serve(start) {
  for (let at = start; ; at = (at + 7) % secrets.length) {
    try {
      await latchkey.verifyKey({ key: secrets[at] });
      admittedAt = performance.now();
      verified += 1;
    } catch (error) {
      if (error.reason !== "moved") throw error;
      refusedAt ||= performance.now();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const serving = mode === "live" ? [serve(0), serve(3)] : [];
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
    }),
  }),
);
await Promise.all([from.close(), to.close()]);
