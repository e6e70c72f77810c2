import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { sqliteStore } from "../index.js";
import {
  anIdentity,
  aPlan,
  aRecord,
  charge,
  commit,
  deleteKey,
  keyIdOf,
  load,
  withKey,
} from "./fixtures.js";

/**
 * A separate process on a file, for tests: prints `ready`, and begins its task when it gets the word. It writes each line at once, so
 * that everything it printed before it was killed is known.
 */
const [task = "", path = "", argument = ""] = process.argv.slice(2);

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Charges one key until it is refused, many charges at a time, and prints how many were admitted. */
async function hammer(): Promise<void> {
  const store = sqliteStore(path, { deadlineMs: 60_000 });
  const plan = aPlan(await load(store));
  const chargeOn = async (): Promise<number> => {
    for (let admitted = 0; ; admitted += 1) {
      if ((await charge(store, plan)).kind !== "charged") return admitted;
    }
  };
  const counts = await Promise.all(Array.from({ length: 8 }, chargeOn));
  say(String(counts.reduce((sum, count) => sum + count, 0)));
  await store.close();
}

/** Writes keys and charges the first one, without end, and prints what was answered. */
async function write(): Promise<void> {
  const store = sqliteStore(path, {
    deadlineMs: 60_000,
    durability: argument === "full" ? "full" : "normal",
  });
  const plan = aPlan(await load(store));
  for (let number = process.pid * 100_000; ; number += 1) {
    const identity = anIdentity(number);
    await commit(store, { puts: [{ record: identity }] });
    await withKey(store, number, 5, { link: identity.id });
    say(`inserted ${number}`);
    const charged = await charge(store, plan);
    if (charged.kind === "charged") say(`left ${charged.remaining}`);
    if (number % 3 === 0) {
      await deleteKey(store, number);
      say(`deleted ${number}`);
    }
  }
}

/** Tries to replace the first key with one of its own, which keeps the counters, and prints the result. */
async function rotate(): Promise<void> {
  const store = sqliteStore(path, { deadlineMs: 60_000 });
  const { record } = await load(store);
  const successor = aRecord(Number(argument));
  const { kind } = await commit(store, {
    expects: [{ kind: "key", id: record.id, version: 1 }],
    puts: [
      { record: { ...record, version: 2, body: { next: successor.id } } },
      { record: successor, counters: { sharedWith: keyIdOf(1) } },
    ],
    enters: [{ list: "keys", id: successor.id }],
  });
  say(kind);
  await store.close();
}

async function open(): Promise<void> {
  const store = sqliteStore(path, { deadlineMs: 60_000 });
  await withKey(store, Number(argument));
  await store.close();
  say("opened");
}

const TASKS: Readonly<Record<string, () => Promise<void>>> = { hammer, write, rotate, open };

say("ready");
createInterface({ input: process.stdin }).once("line", async () => {
  await TASKS[task]?.();
  process.stdin.destroy();
});
