import { fillForOthers, storeName } from "../fixture/row-file.js";
import { type Place, redisClient, type StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Work } from "./work.js";

const TRIP_SAMPLES = 5;
const CALLS_COUNTED = 10;

/**
 * The first verification of each key in a process that has not seen any of them: both sides in fresh processes on a full store, each
 * key once. The first third of the keys warms the code up, so that the keys alone are cold.
 */
export function verifyCold(kind: StoreKind): Work {
  return async ({ place, scale }) => {
    const { coldKeys, pace } = scale;
    const file = await fillForOthers(kind, place, GUARDED, coldKeys);
    const [limit, ours] = (await Promise.all(
      (["limit", "latchkey"] as const).map((side) =>
        RemoteSide.open(side, {
          kind,
          place,
          name: storeName(side, GUARDED),
          side,
          questionId: GUARDED.id,
          keys: { file },
          auditLog: true,
        }),
      ),
    )) as [RemoteSide, RemoteSide];
    // The first of all also reads the API and the permissions.
    await ours.contender("verify").run(1);
    const trips = kind === "redis" ? await countTrips(ours, place) : [];
    const warmUpCalls = Math.floor(coldKeys / 3);
    const from = 1 + trips.length * CALLS_COUNTED;
    await ours.contender("verify", { from }).run(warmUpCalls - from);
    await limit.contender("verify").run(warmUpCalls);
    // So many that every key is seen once, also when each round is as long as it may be.
    const maxCalls = Math.floor((coldKeys - warmUpCalls) / (pace.rounds + 1));
    const sides = await interleave(
      [limit, ours].map((side) => side.contender("verify", { from: warmUpCalls, maxCalls })),
      { ...pace, warmUpMs: 0, leadIn: 0 },
    );
    await limit.close();
    await ours.close();
    const measurement: Measurement = {
      id: `cold/${kind}`,
      title: "first verification of a key",
      unit: "µs",
      sides,
    };
    if (kind !== "redis") return [measurement];
    const scripts: Measurement = {
      id: `cold/${kind}/trips`,
      title: "round trips of a first verification",
      unit: "trips",
      sides: [{ name: "latchkey", samples: trips }],
    };
    return [measurement, scripts];
  };
}

/** Scripts that the server ran, a verification: each is a trip of its own. Several samples, for counts are written now and then. */
async function countTrips(side: RemoteSide, place: Place): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let sample = 0; sample < TRIP_SAMPLES; sample += 1) {
    const before = await scriptCalls(place);
    const from = 1 + sample * CALLS_COUNTED;
    await side.contender("verify", { from }).run(CALLS_COUNTED);
    samples.push(((await scriptCalls(place)) - before) / CALLS_COUNTED);
  }
  return samples;
}

async function scriptCalls(place: Place): Promise<number> {
  const client = await redisClient(place);
  const statistics = await client.info("commandstats");
  client.disconnect();
  const counts = [...statistics.matchAll(/cmdstat_(?:evalsha|eval|fcall)(?:_ro)?:calls=(\d+)/g)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
