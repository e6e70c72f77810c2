import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { postgresStore } from "../index.js";

// Reserves, settles, releases and renews beside verifications and changes of the same keys and identities, until it is killed. For each
// use that it took of a key for good, it prints the number of the key, and `! <code>` for what went wrong.
const [url = "", given = "{}"] = process.argv.slice(2);
const { apiId, keys, seed } = JSON.parse(given) as {
  readonly apiId: string;
  readonly keys: readonly {
    readonly key: string;
    readonly keyId: string;
    readonly owner: string;
  }[];
  readonly seed: number;
};
const latchkey = createLatchkey({
  store: postgresStore(url, { chargeTimeoutMs: 60_000, timeoutMs: 60_000 }),
  usage: false,
});

let state = seed;
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

async function reserve(key: string): Promise<string> {
  // The shortest time: many reservations end by themselves meanwhile.
  const verdict = await latchkey.reserve({ key, remaining: { cost: 3 }, ttl: 1_000 });
  if (verdict.code !== "VALID") throw new Error(verdict.code);
  return verdict.reservationId;
}

/** How many uses the step took for good. */
async function step(number: number, index: number): Promise<number> {
  const { key = "", keyId = "", owner = "" } = keys[index] ?? {};
  switch (below(20)) {
    case 0:
      await latchkey.updateKey({ keyId, name: `name ${number}` });
      return 0;
    case 1:
      await latchkey.updateIdentity({ externalId: owner, meta: { number } });
      return 0;
    case 2: {
      const made = await latchkey.createKey({ apiId, externalId: owner, remaining: 5 });
      await reserve(made.key);
      await latchkey.deleteKey({ keyId: made.keyId });
      return 0;
    }
    case 3:
      await reserve(key);
      return 0;
    case 4: {
      const reservationId = await reserve(key);
      await latchkey.renew({ reservationId, ttl: 1_000 + below(500) });
      await latchkey.release({ reservationId });
      return 0;
    }
    case 5:
    case 6:
    case 7:
    case 8:
    case 9: {
      const reservationId = await reserve(key);
      await latchkey.settle({ reservationId, remaining: { cost: 2 } });
      return 2;
    }
    default:
      await latchkey.verifyKey({ key });
      return 1;
  }
}

async function race(): Promise<never> {
  for (let number = 0; ; number += 1) {
    const index = below(keys.length);
    try {
      const taken = await step(number, index);
      process.stdout.write(`${index}\n`.repeat(taken));
    } catch (error) {
      const { code, outcome, reason } = error as LatchkeyError;
      // The machine was busy: the reservation was over when the second call came.
      if (reason === "reservation-expired" || code === "CONFLICT") continue;
      if (!(error instanceof LatchkeyError) || code !== "STORE_UNAVAILABLE")
        process.stdout.write(`! ${code ?? error}\n`);
      else if (outcome !== "unknown") await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await Promise.all(Array.from({ length: 8 }, race));
