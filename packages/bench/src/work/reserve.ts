import { createLatchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import { GUARDED } from "../questions.js";
import type { Work } from "./work.js";

/** Fewer reservations than a process remembers of its own. */
const SETTLED_AT_ONCE = 1_000;

/**
 * Measures the guarded question as a reservation, and its settlement, against the same question as a verification. Reservations and
 * settlements are timed separately.
 */
export function reserveAndSettle(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const latchkey = createLatchkey({ store: await openStore(kind, location, "reserve") });
    const secrets = await mintSecrets(scale.keys);
    await new KeyIssuer(latchkey, GUARDED.keys).issue(secrets);
    let next = 0;
    const input = () => GUARDED.input(secrets[next++ % secrets.length] as string, "");
    const reserve = async () => {
      const verdict = await latchkey.reserve(input());
      if (verdict.code !== "VALID") throw new Error(`reserve says ${verdict.code}`);
      return verdict.reservationId;
    };
    const reserveAll = async (calls: number) => {
      const ids: string[] = [];
      for (let call = 0; call < calls; call += 1) ids.push(await reserve());
      return ids;
    };
    const settleAll = async (ids: readonly string[]) => {
      for (const reservationId of ids)
        await latchkey.settle({ reservationId, remaining: { cost: 0 } });
    };
    // The first reservation of a key loads it, and a slice may be shorter than the list of keys.
    for (let known = 0; known < secrets.length; known += SETTLED_AT_ONCE)
      await settleAll(await reserveAll(Math.min(SETTLED_AT_ONCE, secrets.length - known)));
    const sides = await interleave(
      [
        {
          name: "verifyKey",
          async run(calls) {
            for (let call = 0; call < calls; call += 1) {
              const { code } = await latchkey.verifyKey(input());
              if (code !== "VALID") throw new Error(`verifyKey says ${code}`);
            }
          },
        },
        {
          name: "reserve",
          async run(calls) {
            const startedAt = performance.now();
            const ids = await reserveAll(calls);
            const took = performance.now() - startedAt;
            await settleAll(ids);
            return took;
          },
        },
        {
          name: "settle",
          async run(calls) {
            const ids = await reserveAll(calls);
            const startedAt = performance.now();
            await settleAll(ids);
            return performance.now() - startedAt;
          },
        },
      ],
      scale.pace,
    );
    await latchkey.close();
    const [verification, ...others] = sides;
    if (verification === undefined) throw new Error("nothing was measured");
    return others.map((other) => ({
      id: `reserve/${kind}/${other.name}`,
      title: `${GUARDED.title}: ${other.name}`,
      unit: "µs",
      sides: [verification, other],
    }));
  };
}
