import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { PACKAGE_FOLDER } from "../../src/testing/pages.js";
import { tempFolder } from "../../src/testing/temp-folder.js";
import type { Chance } from "../chance.js";
import { BATCH, LEASE_MS } from "./keys.js";

/** Long deadlines for a machine that stalls: if a store gave up, a change would fail, or a use would be lost. */
export const STORE_OPTIONS = {
  sqlite: { deadlineMs: 60_000 },
  redis: { commandTimeoutMs: 60_000, configTimeoutMs: 60_000 },
  postgres: { chargeTimeoutMs: 60_000, timeoutMs: 60_000 },
};

/** What a worker writes about each verification except refused ones: numbers of 8 bytes. */
export const ROW = ["at", "since", "until", "wallSince", "wallUntil"] as const;

/** Instead of `until`: it failed, and it is unknown whether the store took a use. */
export const FAILED = 0;

/**
 * Verifies keys without pause. Each admission is in a file before the next verification starts, so a killed worker loses at most one. The
 * steady clock is that of the machine; the other one is off by the given offset.
 */
const WORKER = `
import { openSync, writeSync } from "node:fs";
import { createLatchkey, openStore } from ${JSON.stringify(pathToFileURL(join(PACKAGE_FOLDER, "dist", "index.js")).href)};
const [url, file, offset, ...keys] = process.argv.slice(2);
const log = openSync(file, "a");
const leased = new Set();
const onEvent = ({ leased: isLeased, keyId }) => {
  if (isLeased && !leased.has(keyId) && leased.add(keyId).size === 2) process.stdout.write("leased");
};
const latchkey = createLatchkey({
  store: openStore(url, ${JSON.stringify(STORE_OPTIONS)}),
  leases: { ms: ${LEASE_MS} },
  clock: () => Date.now() + Number(offset),
  onEvent,
});
const row = new Float64Array(${ROW.length});
let isOver = false;
process.once("SIGTERM", () => { isOver = true; });
const steady = () => Number(process.hrtime.bigint());
const first = Math.floor(Math.random() * keys.length);
for (let turn = 0; !isOver; turn += 1) {
  const at = (first + turn) % keys.length;
  const key = keys[at];
  for (let time = 0; time < ${BATCH}; time += 1) {
    const [since, wallSince] = [steady(), Date.now()];
    try {
      const { valid } = await latchkey.verifyKey({ key });
      row.set([at, since, steady(), wallSince, Date.now()]);
      if (valid) writeSync(log, row);
    } catch (error) {
      if (error.code !== "STORE_UNAVAILABLE") throw error;
      row.set([at, since, ${FAILED}, wallSince, Date.now()]);
      writeSync(log, row);
      await new Promise((done) => setTimeout(done, 5));
    }
  }
  if (at % 6 === 5) await new Promise((done) => setTimeout(done, 1));
}
await latchkey.close();
`;

/** Processes that verify keys, and are killed and paused. */
export interface Workers {
  /** Files of all processes, including those that have ended. */
  readonly files: readonly string[];
  readonly done: { kills: number; stops: number };
  /** Kills one and starts another instead, or pauses one for a moment. */
  disturb(chance: Chance): Promise<void>;
  /** Stops all processes. Each returns what it has leased. */
  stop(): Promise<void>;
}

/**
 * Starts three processes, and waits until each has used leases, including those of counted keys.
 *
 * @param offsets - Offset of each clock, in ms.
 */
export async function startWorkers(
  url: string,
  keys: readonly string[],
  offsets: readonly number[],
): Promise<Workers> {
  const folder = tempFolder();
  const program = join(folder, "worker.mjs");
  writeFileSync(program, WORKER);
  const files: string[] = [];
  const workers: ChildProcess[] = [];
  const done = { kills: 0, stops: 0 };
  const start = async (at: number) => {
    const file = join(folder, `admitted-${files.length}`);
    writeFileSync(file, "");
    files.push(file);
    const args = [program, url, file, String(offsets[at]), ...keys];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    workers[at] = child;
    await once(child.stdout, "data");
  };
  const kill = async (at: number, signal: NodeJS.Signals) => {
    const worker = workers[at] as ChildProcess;
    const exited = once(worker, "exit");
    worker.kill(signal);
    return exited;
  };
  await Promise.all(offsets.map((_, at) => start(at)));
  return {
    files,
    done,
    async disturb(chance) {
      const at = chance.below(workers.length);
      if (done.kills === 0 || chance.below(3) === 0) {
        done.kills += 1;
        await kill(at, "SIGKILL");
        await start(at);
      } else {
        done.stops += 1;
        workers[at]?.kill("SIGSTOP");
        await pause(50 + chance.below(250));
        workers[at]?.kill("SIGCONT");
      }
    },
    async stop() {
      const exits = await Promise.all(workers.map((_, at) => kill(at, "SIGTERM")));
      expect(exits.map(([code]) => code)).toEqual(workers.map(() => 0));
    },
  };
}
