import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { openStore, type StoreKind, type StoreLocation } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import { seededRandom, shuffled } from "../measure/random.js";
import { GUARDED } from "../questions.js";
import type { Opening } from "../remote/protocol.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Scale } from "../scale.js";
import type { Work } from "./work.js";

const LEASE_MS = 500;
const SEED = 20_260_701;
/** Numbers of processes that verify concurrently. */
const COUNTS = [1, 2, 4];
/** Untimed calls before a slice, as a share of the calls in it, so that keys are in use. */
const LEAD_IN = 0.2;

/** The processes of one side. */
interface Crew {
  readonly name: string;
  readonly processes: readonly RemoteSide[];
  admitted: number;
  /** Verifications per ms of one process. */
  speed: number;
}

/**
 * Measures verifications with leases against those without, and against a memory store: of one key, and of many keys drawn by Zipf's law.
 */
export function verifyWithLeases(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const measurements: Measurement[] = [];
    for (const keys of scale.leases.keys)
      measurements.push(...(await measure(kind, location, scale, keys)));
    return measurements;
  };
}

async function measure(
  kind: StoreKind,
  location: StoreLocation,
  scale: Scale,
  keyCount: number,
): Promise<readonly Measurement[]> {
  const name = keyCount === 1 ? "one" : "zipf";
  const { sliceMs, processes } = scale.leases;
  const counts = COUNTS.filter((count) => count <= (kind === "memory" ? 1 : processes));
  const secrets = await mintSecrets(keyCount);
  const crews: Crew[] = [await openCrew("memory", location, `${name}-memory`, secrets, 1)];
  if (kind !== "memory")
    crews.push(await openCrew(kind, location, `${name}-plain`, secrets, processes));
  crews.push(
    await openCrew(kind, location, `${name}-leased`, secrets, counts.at(-1) ?? 1, LEASE_MS),
  );
  for (const crew of crews) await warmUp(crew, sliceMs);
  const random = seededRandom(SEED);
  const turns = counts.flatMap((count) =>
    crews.filter(({ processes: { length } }) => count <= length).map((crew) => ({ count, crew })),
  );
  const samples = turns.map((): number[] => []);
  for (let round = 0; round < scale.fewRounds; round += 1)
    for (const at of shuffled(turns.length, random)) {
      const { count, crew } = turns[at] as (typeof turns)[number];
      samples[at]?.push(await slice(crew, count, sliceMs));
    }
  await finish(kind, location, name, crews);
  const sidesOf = (wanted: number) =>
    turns.flatMap(({ count, crew }, at) =>
      count === wanted ? [{ name: crew.name, samples: samples[at] ?? [] }] : [],
    );
  const keys = name === "one" ? "one key" : `${keyCount.toLocaleString("en")} keys, zipf`;
  const leased = counts.map((count) => ({
    name: processesOf(count),
    samples: sidesOf(count).at(-1)?.samples ?? [],
  }));
  return [
    ...counts.map((count): Measurement => {
      const title = `${keys}, ${processesOf(count)}`;
      return {
        id: `leases/${kind}/${name}/${count}`,
        title,
        unit: "µs",
        sides: sidesOf(count),
      };
    }),
    { id: `leases/${kind}/${name}/processes`, title: keys, unit: "µs", sides: leased },
  ];
}

function processesOf(count: number): string {
  return count === 1 ? "1 process" : `${count} processes`;
}

/** Opens `count` processes on one store with these keys. A store in memory has only one, because processes share nothing there. */
async function openCrew(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  secrets: readonly string[],
  count: number,
  leaseMs?: number,
): Promise<Crew> {
  const latchkey = createLatchkey({ store: await openStore(kind, location, name), usage: false });
  const rows = await new KeyIssuer(latchkey, GUARDED.keys).issue(secrets);
  await latchkey.close();
  const file = join(location.folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(rows));
  const opening: Opening = {
    kind,
    location,
    name,
    side: "latchkey",
    questionId: GUARDED.id,
    keys: { file },
    auditLog: true,
    ...(leaseMs !== undefined && { leaseMs }),
    ...(secrets.length > 1 && { order: "zipf" }),
  };
  const processes = await Promise.all(
    Array.from({ length: count }, () => RemoteSide.open(name, opening)),
  );
  const side = leaseMs !== undefined ? "leased" : kind === "memory" ? "memory" : "not leased";
  return { name: side, processes, admitted: 0, speed: 0 };
}

/** Verifies until every process has run for about a slice. */
async function warmUp(crew: Crew, sliceMs: number): Promise<void> {
  const { length } = crew.processes;
  let calls = 64;
  for (let spentMs = 0; spentMs < sliceMs; calls *= 2) {
    const elapsedMs = await verify(crew, length, calls);
    spentMs += elapsedMs;
    crew.speed = calls / elapsedMs;
  }
}

/** @returns Microseconds per verification, of all processes together, while all of them verify. */
async function slice(crew: Crew, count: number, sliceMs: number): Promise<number> {
  const calls = Math.ceil(crew.speed * sliceMs);
  await verify(crew, count, Math.ceil(calls * LEAD_IN));
  const elapsedMs = await verify(crew, count, calls);
  crew.speed = calls / elapsedMs;
  return (elapsedMs * 1_000) / (count * calls);
}

/** `count` processes make `calls` calls each, one after the other. @returns The time taken, in ms. */
async function verify(crew: Crew, count: number, calls: number): Promise<number> {
  const startedAt = performance.now();
  const done = await Promise.all(
    crew.processes
      .slice(0, count)
      .map((side, at) =>
        side.run({ operation: "verify", from: crew.admitted + at * calls, calls, inFlight: 1 }),
      ),
  );
  const elapsedMs = performance.now() - startedAt;
  if (done.some(({ other }) => other > 0)) throw new Error(`${crew.name}: a good key was refused`);
  crew.admitted += count * calls;
  return elapsedMs;
}

/** Closes the processes. @throws Error if the uses taken by leased verifications differ from those admitted. */
async function finish(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  crews: readonly Crew[],
): Promise<void> {
  await Promise.all(crews.flatMap(({ processes }) => processes.map((side) => side.finish())));
  if (kind === "memory" || name !== "one") return;
  const leased = crews.at(-1) as Crew;
  const latchkey = createLatchkey({ store: await openStore(kind, location, `${name}-leased`) });
  let taken = 0;
  for await (const { id: apiId } of latchkey.apis())
    for (const { remaining = 0 } of (await latchkey.listKeys({ apiId })).keys)
      taken += (GUARDED.keys.remaining ?? 0) - remaining;
  await latchkey.close();
  if (taken !== leased.admitted)
    throw new Error(`${taken} uses were taken, and ${leased.admitted} verifications admitted`);
}
