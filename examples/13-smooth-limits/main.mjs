import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartOf } from "./chart.mjs";
import { admittedInMinuteBefore, LIMITS, send } from "./traffic.mjs";

const rows = await Promise.all(
  LIMITS.map(async (limit) => ({ limit, decided: await send(limit) })),
);

for (const { limit, decided } of rows) {
  const admitted = decided.filter((one) => one.admitted).length;
  const most = Math.max(...decided.map(({ at }) => admittedInMinuteBefore(decided, at)));
  const name = limit.algorithm.padEnd(13);
  console.log(`${name} admitted ${admitted} of ${decided.length}, at most ${most} in one minute`);
}

// With a folder, the charts of the documentation are written into it.
const [folder] = process.argv.slice(2);
if (folder !== undefined) {
  const path = (/** @type {string} */ name) => join(folder, `${name}.svg`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path("smooth-limits"), chartOf(rows));
  for (const row of rows) writeFileSync(path(`limit-${row.limit.algorithm}`), chartOf([row]));
}
