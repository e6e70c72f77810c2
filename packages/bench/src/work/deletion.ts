import { setImmediate as nextTurn } from "node:timers/promises";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { fillApi, fillStore } from "../fixture/fill.js";
import { openStore, type StoreKind, type StoreLocation } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import { RemoteSide } from "../remote/remote-side.js";
import { latchkeySide } from "../sides/latchkey.js";
import type { Side } from "../sides/side.js";
import type { Work } from "./work.js";

const STORE_NAME = "latchkey";
const VERIFIED_KEYS = 200;

/** An API to delete while keys of another one are verified. */
interface Doomed {
  readonly keyCount: number;
  delete(): Promise<unknown>;
}

/**
 * Measures the 99th percentile of a verification while an API with very many keys is deleted by another process on the same store, and
 * while the verifying process deletes one with a tenth as many keys. In memory there is only the latter, with all the keys.
 */
export function verifyBesideDeletion(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const most = scale.sizes.at(-1) ?? 0;
    const latchkey = createLatchkey({
      store: await openStore(kind, location, STORE_NAME),
      auditLog: false,
    });
    const elsewhere = kind === "memory" ? null : await fillElsewhere(kind, location, most);
    const here = await fillHere(
      latchkey,
      elsewhere === null ? most : most / 10,
      elsewhere === null,
    );
    const verified = Math.min(VERIFIED_KEYS, scale.keys / 10);
    const { secrets } = await fillApi(latchkey, verified, verified);
    const side = latchkeySide(latchkey, GUARDED, secrets.length);
    // Caches every key and warms up the code, before anything is timed.
    await timesOf(side, secrets, forMs(scale.slowPace.warmUpMs));
    const quietMs = 2 * scale.slowPace.warmUpMs;
    const measurements: Measurement[] = [];
    if (elsewhere !== null)
      measurements.push(
        await measure(`deletion/${kind}`, "another process", quietMs, side, secrets, elsewhere),
      );
    const id = elsewhere === null ? `deletion/${kind}` : `deletion/${kind}/same-process`;
    measurements.push(await measure(id, "the same process", quietMs, side, secrets, here));
    const left = (await latchkey.listApis()).apis.length;
    if (left !== 1) throw new Error(`${left} APIs are left, not one`);
    await latchkey.close();
    return measurements;
  };
}

async function fillElsewhere(
  kind: StoreKind,
  location: StoreLocation,
  keyCount: number,
): Promise<Doomed> {
  const remote = await RemoteSide.open("deletion", {
    kind,
    location,
    name: STORE_NAME,
    side: "latchkey",
    questionId: GUARDED.id,
    keys: { keyCount, known: 1 },
    auditLog: false,
  });
  return {
    keyCount,
    async delete() {
      await remote.run({ operation: "deleteApi", from: 0, calls: 1, inFlight: 1 });
      await remote.close();
    },
  };
}

/** `isFirst`: whether the store is empty. */
async function fillHere(latchkey: Latchkey, keyCount: number, isFirst: boolean): Promise<Doomed> {
  const { apiId } = await (isFirst ? fillStore : fillApi)(latchkey, keyCount, 1);
  return { keyCount, delete: () => latchkey.deleteApi({ apiId }) };
}

async function measure(
  id: string,
  deletedBy: string,
  quietMs: number,
  side: Side,
  secrets: readonly string[],
  doomed: Doomed,
): Promise<Measurement> {
  const quiet = await timesOf(side, secrets, forMs(quietMs));
  let isDeleted = false;
  const startedAt = performance.now();
  const deletion = doomed.delete().finally(() => {
    isDeleted = true;
  });
  const beside = await timesOf(side, secrets, () => !isDeleted);
  await deletion;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const count = doomed.keyCount.toLocaleString("en");
  return {
    id,
    title: `99th percentile of a verification while ${deletedBy} deletes an API of ${count} keys`,
    unit: "µs",
    sides: [
      { name: "quiet", samples: [percentile99(quiet)] },
      { name: "latchkey", samples: [percentile99(beside)] },
    ],
    notes: [`${id}: the deletion took ${seconds} s beside ${beside.length} verifications`],
  };
}

/** A function that returns true for `spanMs` from now on. */
function forMs(spanMs: number): () => boolean {
  const endsAt = performance.now() + spanMs;
  return () => performance.now() < endsAt;
}

/** Verifies keys, each in its own turn of the event loop, as in a server. @returns Microseconds of each verification. */
async function timesOf(
  side: Side,
  secrets: readonly string[],
  goesOn: () => boolean,
): Promise<readonly number[]> {
  const times: number[] = [];
  do {
    const secret = secrets[times.length % secrets.length] as string;
    const startedAt = performance.now();
    const verdict = await side.verify(secret, "");
    times.push((performance.now() - startedAt) * 1_000);
    if (!side.isExpected(verdict)) throw new Error("a good key was refused");
    await nextTurn();
  } while (goesOn());
  return times;
}

function percentile99(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
