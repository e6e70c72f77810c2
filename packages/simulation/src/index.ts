import { parseArgs } from "node:util";
import { runWorkers, TALLY } from "./workers.js";
import { installHost } from "./world/host.js";

const USAGE = `latchkey-simulate: runs latchkey in a simulated world, and checks it against laws

  --schedules n   how many schedules (20,000 unless given)
  --minutes n     for so long, instead
  --workers n     in so many processes (1 unless given), each from seeds of its own
  --seed n        the first seed; each further schedule has the next one
  --all           go on after a violation, and tell each of them in a line
  --first         end with the first violation, and tell it in a line
  --story         tell what happens in the schedule of --seed, and no other
`;

const { values } = parseArgs({
  options: {
    schedules: { type: "string" },
    minutes: { type: "string" },
    workers: { type: "string" },
    seed: { type: "string" },
    story: { type: "boolean" },
    all: { type: "boolean" },
    first: { type: "boolean" },
    worker: { type: "boolean" },
    help: { type: "boolean" },
  },
});

const seed = Number(values.seed ?? 1);
const schedules = values.story === true ? 1 : Number(values.schedules ?? 20_000);
const workers = Number(values.workers ?? 1);

if (values.help === true) {
  process.stdout.write(USAGE);
} else if (workers > 1) {
  const { printTally, sum } = await import("./simulate.js");
  const share = Math.ceil(schedules / workers);
  const tallies = await runWorkers(workers, (worker) => [
    ...["--seed", String(seed + worker * (values.minutes === undefined ? share : 1e8))],
    ...(values.minutes === undefined
      ? ["--schedules", String(Math.min(share, schedules - worker * share))]
      : ["--minutes", values.minutes]),
    ...(values.all === true ? ["--all"] : []),
    ...(values.first === true ? ["--first"] : []),
  ]);
  printTally(sum(tallies), seed);
  process.exitCode = tallies.some(({ violations }) => violations > 0) ? 1 : 0;
} else {
  const now = performance.now.bind(performance);
  // Before production code is loaded: some of it keeps the host's timer.
  installHost();
  const { printTally, simulate } = await import("./simulate.js");
  const tally = await simulate({
    seed,
    schedules,
    endsAt: values.minutes === undefined ? null : now() + Number(values.minutes) * 60_000,
    isStory: values.story === true,
    goesOn: values.all === true,
    shrinks: values.first !== true,
    now,
  });
  if (values.worker === true) process.stdout.write(`${TALLY}${JSON.stringify(tally)}\n`);
  else if (tally.violations === 0 || values.all === true) printTally(tally, seed);
  process.exitCode = tally.violations === 0 ? 0 : 1;
}
