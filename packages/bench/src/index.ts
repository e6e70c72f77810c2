import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { GOALS, type Goal } from "./goals.js";
import { type Limit, memoryLimit, sqliteLimit } from "./limits.js";
import { type Contender, timeInTurn } from "./measure.js";

const KEYS = 10_000;
const ROUNDS = { memory: 40, sqlite: 8 } as const;

interface Line {
  readonly goal: string;
  readonly work: string;
  readonly limitNs: number;
  readonly latchkeyNs: number;
  readonly ratio: number;
  readonly maxRatio: number;
}

const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-"));
try {
  const lines: Line[] = [];
  for (const goal of GOALS) {
    process.stderr.write(`measuring ${goal.id} ${goal.work} …\n`);
    lines.push(await measure(goal));
  }
  print(lines);
  const [, , jsonPath] = process.argv;
  if (jsonPath !== undefined) writeFileSync(jsonPath, `${JSON.stringify(lines, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Both sides see the same secrets in the same order, one after the other. */
async function measure(goal: Goal): Promise<Line> {
  const path = (side: string) => join(folder, `${goal.id}-${side}.db`);
  const store = goal.store === "memory" ? memoryStore() : sqliteStore(path("latchkey"));
  const latchkey = createLatchkey({ store });
  const secrets = await issueKeys(latchkey, goal.isCounted);
  const limit =
    goal.store === "memory"
      ? memoryLimit(secrets, goal.isCounted)
      : sqliteLimit(path("limit"), secrets, goal.isCounted);
  const contenders = [limitContender(limit, secrets), latchkeyContender(latchkey, secrets)];
  const [base, ours] = await timeInTurn(contenders, KEYS, ROUNDS[goal.store]);
  await latchkey.close();
  const limitNs = base?.medianNs ?? Number.NaN;
  const latchkeyNs = ours?.medianNs ?? Number.NaN;
  const { id, work, maxRatio } = goal;
  return { goal: id, work, limitNs, latchkeyNs, ratio: latchkeyNs / limitNs, maxRatio };
}

async function issueKeys(latchkey: Latchkey, isCounted: boolean): Promise<readonly string[]> {
  const { apiId } = await latchkey.createApi({ name: "benchmark" });
  const counters = isCounted
    ? { remaining: 1e12, ratelimit: { limit: 1e12, duration: 60_000 } }
    : {};
  const secrets: string[] = [];
  for (let count = 0; count < KEYS; count += 1) {
    secrets.push((await latchkey.createKey({ apiId, ...counters })).key);
  }
  return secrets;
}

function limitContender(limit: Limit, secrets: readonly string[]): Contender {
  return {
    name: "limit",
    async run(calls) {
      for (let call = 0; call < calls; call += 1) {
        if (!(await limit(secrets[call] as string)))
          throw new Error("the limit refused a good key");
      }
    },
  };
}

function latchkeyContender(latchkey: Latchkey, secrets: readonly string[]): Contender {
  return {
    name: "latchkey",
    async run(calls) {
      for (let call = 0; call < calls; call += 1) {
        const { valid } = await latchkey.verifyKey({ key: secrets[call] as string });
        if (!valid) throw new Error("latchkey refused a good key");
      }
    },
  };
}

function print(lines: readonly Line[]): void {
  const rows = lines.map(({ goal, work, limitNs, latchkeyNs, ratio, maxRatio }) => [
    goal,
    work,
    microseconds(limitNs),
    microseconds(latchkeyNs),
    ratio.toFixed(2),
    maxRatio.toFixed(2),
    ratio <= maxRatio ? "met" : "not met",
  ]);
  const table = [["", "work", "limit µs", "latchkey µs", "ratio", "goal", ""], ...rows];
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  process.stdout.write(
    `${KEYS} keys, one verification after the other, medians; only the ratios travel\n\n`,
  );
  for (const row of table) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}

function microseconds(nanoseconds: number): string {
  return (nanoseconds / 1_000).toFixed(2);
}
