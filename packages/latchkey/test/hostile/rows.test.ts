import { join } from "node:path";
import { sqliteStore } from "@latchkey/sqlite";
import Database from "better-sqlite3";
import fc from "fast-check";
import { tempFolder } from "../../src/testing/temp-folder.js";
import { expectAnswerOrRefusal } from "./answers.js";
import { CHARGES, fillStore } from "./calls.js";
import { changed, changesOf } from "./changed.js";
import { fuzz } from "./fuzz.js";
import { hostileJson } from "./values.js";
import { storedTexts } from "./words.js";

const LIMITS = [
  {
    name: "default",
    limit: 5,
    remaining: 4,
    resetAt: 9,
    exceeded: false,
    state: { at: 1, used: 1, earlier: [] },
  },
];
const REMEMBERED = {
  fingerprint: "b",
  until: 9e15,
  result: { kind: "charged", remaining: 4, limits: LIMITS },
};

const opened = new Map<string, ReturnType<typeof open>>();

async function open() {
  const path = join(tempFolder(), "keys.db");
  const store = sqliteStore(path);
  await fillStore(store);
  const database = new Database(path);
  return {
    store,
    keep: {
      request: database.prepare("UPDATE latchkey_passing SET value = ? WHERE name LIKE ' %'"),
      window: database.prepare("UPDATE latchkey_passing SET value = ? WHERE name NOT LIKE ' %'"),
      windows: database.prepare("UPDATE latchkey_counters SET windows = ?"),
    },
  };
}

fuzz(
  "whatever stands in SQLite's texts of counters, windows and requests, a charge answers in the types of the port or refuses",
  {
    corpus: "sqlite-rows",
    runs: 400,
    input: fc.record({
      request: fc.oneof({ weight: 3, arbitrary: changesOf(hostileJson) }, storedTexts),
      window: fc.oneof(
        hostileJson.map((json) => JSON.stringify(json)),
        storedTexts,
        storedTexts.map((text) => JSON.stringify(text)),
      ),
      windows: storedTexts,
      call: fc.nat(1_000),
    }),
    feed: async ({ request, window, windows, call }) => {
      const file = await (opened.get("file") ?? opened.set("file", open()).get("file"));
      if (file === undefined) return;
      file.keep.request.run(
        typeof request === "string"
          ? request
          : (JSON.stringify(changed(REMEMBERED, request).value) ?? ""),
      );
      file.keep.window.run(window);
      file.keep.windows.run(call % 3 === 0 ? windows : "");
      const charge = CHARGES[call % CHARGES.length];
      if (charge !== undefined) await expectAnswerOrRefusal("charge", () => charge(file.store));
    },
  },
);
