import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Plan } from "./plan/plan.js";
import { printTally, sum, type Tally } from "./tally.js";
import { runWorkers, TALLY } from "./workers.js";
import { installHost } from "./world/host.js";

const USAGE = `latchkey-simulate: runs latchkey in a simulated world, and checks it against laws

  --schedules n   how many schedules (20,000 unless given)
  --minutes n     as many as fit in this time instead
  --workers n     in how many processes (1 unless given), each with its own seeds
  --seed n        the first seed; each further schedule has the next one
  --all           go on after a violation, and print each in one line
  --first         stop at the first violation, and print it in one line
  --story         run only the schedule of --seed, and print every event
  --print         print the schedule of --seed as JSON, and run nothing
  --plan file     run the schedule in this file
  --store url     on stores of this kind: sqlite:, redis://host:port or postgres://…; deletes everything in them
  --leases        run the model of leases instead, which is ten times as fast
  --fault name    with --leases: plant this fault, which a law must detect
  --faults        with --leases: plant each fault in turn, and print which law detects it, as a table
`;

const { values } = parseArgs({
  options: {
    schedules: { type: "string" },
    minutes: { type: "string" },
    workers: { type: "string" },
    seed: { type: "string" },
    story: { type: "boolean" },
    print: { type: "boolean" },
    plan: { type: "string" },
    all: { type: "boolean" },
    first: { type: "boolean" },
    store: { type: "string" },
    "serve-stores": { type: "string" },
    leases: { type: "boolean" },
    fault: { type: "string" },
    faults: { type: "boolean" },
    worker: { type: "boolean" },
    help: { type: "boolean" },
  },
});

const seed = Number(values.seed ?? 1);
const schedules = values.story === true ? 1 : Number(values.schedules ?? 20_000);
const workers = Number(values.workers ?? 1);

const { store } = values;
if (store !== undefined && !/^(sqlite|redis|postgres|postgresql):/.test(store))
  throw new Error("--store must be sqlite:, or begin with redis: or postgres:");
if (store !== undefined && workers > 1 && !store.startsWith("sqlite:"))
  throw new Error("on a server, one process runs all schedules: leave out --workers");

if (values.help === true) {
  process.stdout.write(USAGE);
} else if (values.print === true) {
  const { planOf } = await import("./plan/plan-of.js");
  const { steps, ...world } = planOf(seed);
  const lines = steps.map((step) => `\n  ${JSON.stringify(step)}`).join(",");
  process.stdout.write(`${JSON.stringify(world).slice(0, -1)}, "steps": [${lines}\n]}\n`);
} else if (values.faults === true) {
  const { searchForFaults } = await import("./leases/search.js");
  const missed = searchForFaults(seed, schedules);
  process.stdout.write(`seed ${seed}, ${missed.length} not found ${missed.join(", ")}\n`);
  process.exitCode = missed.length === 0 ? 0 : 1;
} else if (values["serve-stores"] !== undefined) {
  const { serveStores } = await import("./world/store-process.js");
  await serveStores(values["serve-stores"]);
} else if (workers > 1) {
  const share = Math.ceil(schedules / workers);
  const tallies = await runWorkers(workers, (worker) => [
    ...["--seed", String(seed + worker * (values.minutes === undefined ? share : 1e8))],
    ...(values.minutes === undefined
      ? ["--schedules", String(Math.min(share, schedules - worker * share))]
      : ["--minutes", values.minutes]),
    ...(values.all === true ? ["--all"] : []),
    ...(values.first === true ? ["--first"] : []),
    ...(values.leases === true ? ["--leases"] : []),
    ...(store === undefined ? [] : ["--store", store]),
    ...(values.fault === undefined ? [] : ["--fault", values.fault]),
  ]);
  printTally(sum(tallies), seed);
  process.exitCode = tallies.some(({ violations }) => violations > 0) ? 1 : 0;
} else if (values.leases === true) {
  const { isFault } = await import("./leases/faults.js");
  const { searchAndTell, tellSchedule } = await import("./leases/search.js");
  const { fault = null } = values;
  if (fault !== null && !isFault(fault)) throw new Error(`there is no fault ${fault}`);
  const run = values.story === true ? tellSchedule : searchAndTell;
  tell(run(fault, seed, schedules));
} else {
  const now = performance.now.bind(performance);
  // Before production code is loaded: some of it keeps a reference to the host's timer.
  installHost();
  const { simulate } = await import("./simulate.js");
  const { startStores } = await import("./world/store-process.js");
  const stores = store === undefined ? undefined : startStores(store);
  const stored = values.plan === undefined ? null : readFileSync(values.plan, "utf8");
  const tally = await simulate({
    seed,
    plan: stored === null ? null : (JSON.parse(stored) as Plan),
    schedules: stored === null ? schedules : 1,
    endsAt: values.minutes === undefined ? null : now() + Number(values.minutes) * 60_000,
    isStory: values.story === true,
    goesOn: values.all === true,
    shrinks: values.first !== true,
    stores,
    now,
  });
  stores?.end();
  tell(tally);
}

/**
 * Prints the tally of this process, unless a violation was printed in its place; a worker hands it to its parent, which adds it to the
 * others. A violation sets the exit status to 1.
 */
function tell(tally: Tally): void {
  if (values.worker === true) process.stdout.write(`${TALLY}${JSON.stringify(tally)}\n`);
  else if (tally.violations === 0 || values.all === true) printTally(tally, seed);
  process.exitCode = tally.violations === 0 ? 0 : 1;
}
