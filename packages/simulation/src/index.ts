import { parseArgs } from "node:util";
import { installHost } from "./world/host.js";

const USAGE = `latchkey-simulate: runs latchkey in a simulated world, and checks it against laws

  --schedules n   how many schedules (20,000 unless given)
  --minutes n     for so long, instead
  --seed n        the first seed; each further schedule has the next one
  --all           go on after a violation, and tell each of them in a line
  --first         end with the first violation, and tell it in a line
  --story         tell what happens in the schedule of --seed, and no other
`;

const { values } = parseArgs({
  options: {
    schedules: { type: "string" },
    minutes: { type: "string" },
    seed: { type: "string" },
    story: { type: "boolean" },
    all: { type: "boolean" },
    first: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (values.help === true) {
  process.stdout.write(USAGE);
} else {
  const now = performance.now.bind(performance);
  // Before production code is loaded: some of it keeps the host's timer.
  installHost();
  const { simulate } = await import("./simulate.js");
  process.exitCode = await simulate({
    seed: Number(values.seed ?? 1),
    schedules: values.story === true ? 1 : Number(values.schedules ?? 20_000),
    endsAt: values.minutes === undefined ? null : now() + Number(values.minutes) * 60_000,
    isStory: values.story === true,
    goesOn: values.all === true,
    shrinks: values.first !== true,
    now,
  });
}
