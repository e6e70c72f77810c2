import { fillForOthers, storeName } from "../fixture/row-file.js";
import type { StoreKind, StoreLocation } from "../fixture/stores.js";
import type { Measurement, SideSamples } from "../measure/measurement.js";
import { GUARDED, type Question, SCARCE } from "../questions.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Work } from "./work.js";

const IN_FLIGHT = 64;
const PROCESSES = ["one", "two"];
const SIDES = ["limit", "latchkey"] as const;

/**
 * Measures two concurrent processes on one store against one, by total throughput. Also checks that they admit exactly the granted uses.
 */
export function verifyInTwoProcesses(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const { keys, pace } = scale;
    const notes = await assertExact(kind, location, keys);
    const file = await fillForOthers(kind, location, GUARDED, keys);
    const measurements: Measurement[] = [];
    for (const name of SIDES) {
      const pair = await openPair(kind, location, GUARDED, name, file);
      const { samples, blocked } = await takeTurns(pair, pace.rounds, pace.sliceMs, keys);
      for (const side of pair) await side.close();
      measurements.push({
        id: `processes/${kind}/${name}`,
        title: `${name}, ${IN_FLIGHT} in flight in each process`,
        unit: "µs",
        sides: samples,
        notes,
      });
      if (name === "latchkey")
        measurements.push({
          id: `processes/${kind}/blocked`,
          title: "longest turn of the event loop in each round, two processes",
          unit: "ms",
          sides: [{ name, samples: blocked }],
        });
    }
    return measurements;
  };
}

async function openPair(
  kind: StoreKind,
  location: StoreLocation,
  question: Question,
  side: (typeof SIDES)[number],
  file: string,
): Promise<readonly RemoteSide[]> {
  const name = storeName(side, question);
  const questionId = question.id;
  const opening = { kind, location, questionId, side, name, keys: { file }, auditLog: true };
  return Promise.all(PROCESSES.map((process) => RemoteSide.open(process, opening)));
}

/**
 * Runs one process, then both with half the work each. @returns Microseconds per verification, and the longest turns of the event loop, in
 * ms.
 */
async function takeTurns(
  pair: readonly RemoteSide[],
  rounds: number,
  sliceMs: number,
  keys: number,
): Promise<{ readonly samples: readonly SideSamples[]; readonly blocked: readonly number[] }> {
  const share = { operation: "verify", inFlight: IN_FLIGHT, isTurning: true } as const;
  const [first, second] = pair as [RemoteSide, RemoteSide];
  for (const side of pair) await side.run({ ...share, from: 0, calls: keys });
  const { elapsedMs } = await first.run({ ...share, from: 0, calls: keys });
  // Longer slices than elsewhere, because two processes do not begin at the same moment.
  const calls = Math.max(IN_FLIGHT, Math.ceil((keys * sliceMs * 4) / elapsedMs / 2) * 2);
  const alone: number[] = [];
  const together: number[] = [];
  const blocked: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const from = round * calls;
    const one = await first.run({ ...share, from, calls });
    alone.push((one.elapsedMs * 1_000) / calls);
    const startedAt = performance.now();
    const both = await Promise.all([
      first.run({ ...share, from, calls: calls / 2 }),
      second.run({ ...share, from: from + calls / 2, calls: calls / 2 }),
    ]);
    together.push(((performance.now() - startedAt) * 1_000) / calls);
    blocked.push(Math.max(...both.map(({ blockedMs }) => blockedMs)));
    if ([one, ...both].some(({ other }) => other > 0)) throw new Error("a good key was refused");
  }
  const samples = [
    { name: "one process", samples: alone },
    { name: "two processes", samples: together },
  ];
  return { samples, blocked };
}

/**
 * Both processes verify keys with few uses until these are gone. @returns Notes for the report. @throws Error if more or fewer were
 * admitted.
 */
async function assertExact(
  kind: StoreKind,
  location: StoreLocation,
  keys: number,
): Promise<readonly string[]> {
  const keyCount = Math.min(100, keys / 10);
  const file = await fillForOthers(kind, location, SCARCE, keyCount);
  const granted = keyCount * (SCARCE.keys.remaining ?? 0);
  const notes: string[] = [];
  for (const name of SIDES) {
    const pair = await openPair(kind, location, SCARCE, name, file);
    const asking = { operation: "verify", inFlight: IN_FLIGHT, isTurning: true } as const;
    const done = await Promise.all(
      pair.map((side) => side.run({ ...asking, from: 0, calls: granted })),
    );
    for (const side of pair) await side.close();
    const admitted = done.reduce((sum, { right }) => sum + right, 0);
    if (admitted !== granted)
      throw new Error(`${name} admitted ${admitted} of ${granted} uses in two processes`);
    notes.push(`${name}: ${2 * granted} asked, ${granted} granted, ${admitted} admitted`);
  }
  return notes;
}
