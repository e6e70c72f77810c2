import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { postgresStore } from "../index.js";

// Runs steps that get in each other's way: verifications of keys that share identities and cross limits, beside changes of the same keys
// and identities. Prints at the end how many there were, what each of the first key took, and what went wrong.
const [url = "", given = "{}"] = process.argv.slice(2);
const { apiId, keys, steps, seed } = JSON.parse(given) as {
  readonly apiId: string;
  /** All of them race; the uses of the first are never changed. */
  readonly keys: readonly {
    readonly key: string;
    readonly keyId: string;
    readonly owner: string;
  }[];
  readonly steps: number;
  readonly seed: number;
};
const latchkey = createLatchkey({
  store: postgresStore(url, { chargeTimeoutMs: 60_000, timeoutMs: 60_000 }),
});
/** Refusals that a caller of such changes must expect. */
const EXPECTED = new Set(["CONFLICT"]);

let state = seed;
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

let taken = 0;
let left = steps;
const wrong: Record<string, number> = {};

async function step(number: number): Promise<void> {
  const index = below(keys.length);
  const { key = "", keyId = "", owner = "" } = keys[index] ?? {};
  const verify = async (more: object) => {
    const { valid } = await latchkey.verifyKey({ key, ...more });
    if (valid && index === 0) taken += 1;
  };
  switch (below(40)) {
    case 0:
      await latchkey.updateKey({ keyId, name: `name ${number}` });
      return;
    case 1:
      // Every third key uses those of its identity.
      if (index > 0 && index % 3 !== 2)
        await latchkey.updateRemaining({ keyId, op: "increment", value: 1 });
      return;
    case 2:
      await latchkey.updateIdentity({ externalId: owner, meta: { number } });
      return;
    case 3: {
      const made = await latchkey.createKey({ apiId, externalId: owner, remaining: 5 });
      await latchkey.verifyKey({ key: made.key });
      await latchkey.deleteKey({ keyId: made.keyId });
      return;
    }
    case 4:
      return verify({ requestId: `${seed} ${number}` });
    case 5:
    case 6: {
      const both = ["one", "other"].map((name) => ({ name, limit: 1_000_000, duration: 60_000 }));
      return verify({ ratelimits: number % 2 === 0 ? both : both.reverse() });
    }
    default:
      return verify({});
  }
}

async function race(): Promise<void> {
  while (left > 0) {
    left -= 1;
    try {
      await step(left);
    } catch (error) {
      const code = error instanceof LatchkeyError ? error.code : String(error);
      if (!EXPECTED.has(code)) wrong[code] = (wrong[code] ?? 0) + 1;
    }
  }
}

await Promise.all(Array.from({ length: 24 }, race));
await latchkey.close();
process.stdout.write(JSON.stringify({ steps, taken, wrong }));
