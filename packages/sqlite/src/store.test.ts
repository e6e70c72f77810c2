import { copyFileSync } from "node:fs";
import { describeKeyStore } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll } from "vitest";
import { type SqliteStoreOptions, sqliteStore } from "./index.js";
import { damageAt } from "./testing/damage.js";
import { copyDatabase, openScratch } from "./testing/scratch.js";

const scratch = openScratch();
const paths = new WeakMap<KeyStore, string>();
const databases: Database.Database[] = [];

/** A file that latchkey has made, and closed. */
const madePath = scratch.newPath();
await sqliteStore(madePath).close();

/** Path of an empty store. Making its tables took a tenth of the time of these tests, and `engine/open.test.ts` is about that. */
function emptyPath(): string {
  const path = scratch.newPath();
  copyFileSync(madePath, path);
  return path;
}

afterAll(() => {
  for (const database of databases) database.close();
  scratch.remove();
});

function pathOf(store: KeyStore): string {
  return paths.get(store) as string;
}

function openAt(path: string, options?: SqliteStoreOptions): KeyStore {
  const store = sqliteStore(path, options);
  paths.set(store, path);
  return store;
}

function handIn(path: string): KeyStore {
  const database = new Database(path);
  databases.push(database);
  const store = sqliteStore(database);
  paths.set(store, path);
  return store;
}

async function saveState(store: KeyStore): Promise<() => Promise<void>> {
  const saved = scratch.newPath();
  await copyDatabase(pathOf(store), saved);
  return () => copyDatabase(saved, pathOf(store));
}

/**
 * The stores after the file run the same statements on another connection. So they run only the parts of the contract about opening,
 * ending and sharing a connection, and some random sequences of all calls; `LATCHKEY_TEST_STORES=all` runs all of it.
 */
const shareOfSequences = 0.25;
const isInFull = process.env.LATCHKEY_TEST_STORES === "all";
const CONNECTED = ["commit: all or nothing", "charge: confirmation", "the model", "close"];
const ofAnotherConnection = isInFull ? {} : { sections: CONNECTED };
const ofAnotherFile = isInFull
  ? {}
  : { sections: [...CONNECTED, "opening again", "damaged records"] };

describeKeyStore("a SQLite file", () => openAt(emptyPath()), {
  openAgain: (store) => openAt(pathOf(store)),
  damage: damageAt(pathOf),
  saveState,
});

describeKeyStore(
  'a SQLite file with durability "full"',
  () => openAt(emptyPath(), { durability: "full" }),
  {
    openAgain: (store) => openAt(pathOf(store), { durability: "full" }),
    damage: damageAt(pathOf),
    shareOfSequences,
    ...ofAnotherFile,
  },
);

describeKeyStore("a database that was handed in", () => handIn(emptyPath()), {
  openAgain: (store) => handIn(pathOf(store)),
  damage: damageAt(pathOf),
  shareOfSequences,
  ...ofAnotherFile,
});

const shared = new WeakMap<KeyStore, Database.Database>();

function onOneConnection(database: Database.Database): KeyStore {
  const store = sqliteStore(database);
  shared.set(store, database);
  return store;
}

describeKeyStore(
  "two stores on one connection",
  () => {
    const database = new Database(":memory:");
    databases.push(database);
    return onOneConnection(database);
  },
  {
    openAgain: (store) => onOneConnection(shared.get(store) as Database.Database),
    shareOfSequences,
  },
);

describeKeyStore("a database in memory", () => sqliteStore(":memory:"), {
  shareOfSequences,
  ...ofAnotherConnection,
});
