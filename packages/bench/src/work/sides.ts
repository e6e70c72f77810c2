import { createLatchkey, type Latchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import type { KeyRow } from "../fixture/rows.js";
import { openStore, type StoreKind, type StoreLocation } from "../fixture/stores.js";
import type { AbsentSide } from "../measure/measurement.js";
import type { Question } from "../questions.js";
import { betterAuthSide } from "../sides/better-auth.js";
import { latchkeySide, verifierSide } from "../sides/latchkey.js";
import { limitSide } from "../sides/limit.js";
import { rateLimiterSide } from "../sides/rate-limiter-flexible.js";
import { AbsentError, type Side } from "../sides/side.js";

/** All sides of a question, with the same secrets. */
export interface Sides {
  readonly secrets: readonly string[];
  readonly rows: readonly KeyRow[];
  /** The sides that take part: the limit, latchkey, its verifier, then the peers. */
  readonly present: readonly Side[];
  readonly absent: readonly AbsentSide[];
  close(): Promise<void>;
}

/** Creates the keys of a question, and opens every side with them. */
export async function openSides(
  kind: StoreKind,
  location: StoreLocation,
  question: Question,
  keyCount: number,
): Promise<Sides> {
  const secrets = await mintSecrets(keyCount);
  const { latchkey, rows } = await openFilled(kind, location, "latchkey", question, secrets);
  // The verifier has its own store, and so its own counters.
  const prepared = await openFilled(kind, location, "verifier", question, secrets);
  const present = [
    await limitSide(kind, location, "limit", rows, question),
    latchkeySide(latchkey, question, keyCount),
    verifierSide(prepared.latchkey, question, keyCount),
  ];
  const absent: AbsentSide[] = [];
  const peers = [
    {
      name: "better-auth",
      open: () => betterAuthSide(kind, location, "better-auth", secrets, question),
    },
    {
      name: "rate-limiter-flexible",
      open: () => rateLimiterSide(kind, location, "rate-limiter-flexible", secrets, question),
    },
  ];
  for (const { name, open } of peers) {
    try {
      present.push(await open());
    } catch (error) {
      if (!(error instanceof AbsentError)) throw error;
      absent.push({ name, reason: error.message });
    }
  }
  const close = async () => {
    for (const side of present) await side.close();
  };
  return { secrets, rows, present, absent, close };
}

async function openFilled(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  { keys }: Question,
  secrets: readonly string[],
): Promise<{ readonly latchkey: Latchkey; readonly rows: readonly KeyRow[] }> {
  const latchkey = createLatchkey({ store: await openStore(kind, location, name) });
  return { latchkey, rows: await new KeyIssuer(latchkey, keys).issue(secrets) };
}
