import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GOALS, type Goal, type StoreKind } from "./goals.js";
import type { Verify } from "./limits.js";
import { type Contender, timeInTurn } from "./measure.js";
import { startRedis } from "./redis-server.js";
import { asTable, type Line } from "./report.js";
import { openSides } from "./sides.js";

const KEYS = 10_000;
const ROUNDS: Readonly<Record<StoreKind, number>> = { memory: 40, sqlite: 8, redis: 6 };

// node dist/index.js [file.json]: measures every goal, prints a table, and writes the figures where a file is named.
const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-"));
const redis = await startRedis(folder);
try {
  const lines: Line[] = [];
  for (const goal of GOALS) {
    if (goal.store === "redis" && redis === null) {
      process.stderr.write(`skipping ${goal.id} ${goal.work}: no redis-server on the PATH\n`);
      continue;
    }
    process.stderr.write(`measuring ${goal.id} ${goal.work} …\n`);
    lines.push(await measure(goal));
  }
  process.stdout.write(`${KEYS} keys, medians for one verification; only the ratios travel\n\n`);
  process.stdout.write(asTable(lines));
  const [, , jsonPath] = process.argv;
  if (jsonPath !== undefined) writeFileSync(jsonPath, `${JSON.stringify(lines, null, 2)}\n`);
} finally {
  redis?.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Both sides see the same secrets in the same order. */
async function measure(goal: Goal): Promise<Line> {
  const sides = await openSides(goal, KEYS, folder, redis);
  const contender = (name: string, verify: Verify): Contender => ({
    name,
    run: (calls) => verifyAll(verify, sides.secrets.slice(0, calls), goal.inFlight),
  });
  const contenders = [contender("limit", sides.limit), contender("latchkey", sides.latchkey)];
  const [base, ours] = await timeInTurn(contenders, KEYS, ROUNDS[goal.store]);
  await sides.close();
  const limitNs = base?.medianNs ?? Number.NaN;
  const latchkeyNs = ours?.medianNs ?? Number.NaN;
  return { ...goal, limitNs, latchkeyNs, ratio: latchkeyNs / limitNs };
}

async function verifyAll(
  verify: Verify,
  secrets: readonly string[],
  inFlight: number,
): Promise<void> {
  let next = 0;
  async function verifyOn(): Promise<void> {
    while (next < secrets.length) {
      const secret = secrets[next] as string;
      next += 1;
      if (!(await verify(secret)).valid) throw new Error("a good key was refused");
    }
  }
  await Promise.all(Array.from({ length: inFlight }, verifyOn));
}
