import { fillForOthers, storeName } from "../fixture/row-file.js";
import type { StoreKind, StoreLocation } from "../fixture/stores.js";
import { countTrips } from "../fixture/trip-counter.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Work } from "./work.js";

const TRIP_SAMPLES = 5;
const CALLS_COUNTED = 10;

/**
 * Measures the first verification of each key: both sides run in new processes on a full store, and verify each key once. The first third
 * of the keys warms up the code, so that only the keys are cold.
 */
export function verifyCold(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const { coldKeys, pace } = scale;
    const file = await fillForOthers(kind, location, GUARDED, coldKeys);
    const open = (side: "limit" | "latchkey", at: StoreLocation) =>
      RemoteSide.open(side, {
        kind,
        location: at,
        name: storeName(side, GUARDED),
        side,
        questionId: GUARDED.id,
        keys: { file },
        auditLog: true,
      });
    const [limit, ours] = [await open("limit", location), await open("latchkey", location)];
    const warmUpCalls = Math.floor(coldKeys / 3);
    for (const side of [limit, ours]) await side.contender("verify").run(warmUpCalls);
    // Slices are as long as the keys allow: a short one would measure how the process wakes up.
    const calls = Math.floor((coldKeys - warmUpCalls) / (pace.rounds + 1));
    const sides = await interleave(
      [limit, ours].map((side) =>
        side.contender("verify", { from: warmUpCalls, minCalls: calls, maxCalls: calls }),
      ),
      { ...pace, warmUpMs: 0, leadIn: 0 },
    );
    for (const side of [limit, ours]) await side.close();
    const measurement: Measurement = {
      id: `cold/${kind}`,
      title: "first verification of a key",
      unit: "µs",
      sides,
    };
    if (location.server === null) return [measurement];
    const trips: Measurement = {
      id: `cold/${kind}/trips`,
      title: "round trips of a first verification",
      unit: "trips",
      sides: [{ name: "latchkey", samples: await tripsOf(location, (at) => open("latchkey", at)) }],
    };
    return [measurement, trips];
  };
}

/** Round trips per verification, in a new process. There are several samples, because statistics are written from time to time. */
async function tripsOf(
  location: StoreLocation,
  open: (at: StoreLocation) => Promise<RemoteSide>,
): Promise<readonly number[]> {
  const counter = await countTrips(location);
  const side = await open(counter.location);
  const verify = side.contender("verify");
  // The very first verification also reads the API and the permissions.
  await verify.run(1);
  const samples: number[] = [];
  for (let sample = 0; sample < TRIP_SAMPLES; sample += 1) {
    const before = counter.trips();
    await verify.run(CALLS_COUNTED);
    samples.push((counter.trips() - before) / CALLS_COUNTED);
  }
  await side.close();
  counter.close();
  return samples;
}
