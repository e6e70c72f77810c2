import { postgresStore } from "@latchkey/postgres";
import { redisStore } from "@latchkey/redis";
import fc from "fast-check";
import { expectAnswerOrRefusal } from "./answers.js";
import { CALLS } from "./calls.js";
import { changed, changesOf } from "./changed.js";
import { fuzz } from "./fuzz.js";
import { hostileJson } from "./values.js";
import { storedTexts } from "./words.js";

const reply = fc.oneof({ weight: 2, arbitrary: storedTexts }, hostileJson);
const input = fc.record({ call: fc.nat(1_000), good: fc.nat(1_000), changes: changesOf(reply) });

const COUNTERS = "5 0 -";
const RECORD = ["key_1", "1", "id_1", '{"name":"x"}', null, "1", "5", "0", null];
const ANSWERS = [
  "charged 4 1773144000000:1",
  'repeat charged 4 1:1\n[["default",5,60000,1]]',
  'repeat rate-limited - 1:1 2:3:4,5!\n[{"name":"a","limit":5,"duration":60000,"cost":1}]',
  "stale 0",
  "stale 1",
  "conflict",
];
/** Actual and possible replies to each call. */
const REDIS: Readonly<Record<string, readonly unknown[]>> = {
  read: [
    [
      "1",
      [`1 id_1 ${COUNTERS}\n{"name":"x"}`, "1", null, null, "key_1"],
      [`1  ${COUNTERS}\n{}`, null, null, null, "id_1"],
      null,
      null,
    ],
  ],
  page: [["1", "1", []]],
  commit: [
    ["OK", COUNTERS],
    ["STALE", 0],
    ["TAKEN", "0"],
    ["REFUSED", 0, "insufficient", "1"],
    ["CORRUPT"],
  ],
  charge: ANSWERS,
  readStatistics: [[" 493:VALID=1 493:EXPIRED=2"]],
  addStatistics: ["OK"],
  deleteStatistics: [
    ["1", "1", ["000000001 key:key_1"]],
    [1, 1],
  ],
  scan: [["0", ["lk:{ws_default}:p:login"]]],
  forget: [["0", ["lk:{ws_default}:p:login"]]],
  readClock: [["1773144000", "5"]],
};
const POSTGRES: Readonly<Record<string, readonly unknown[]>> = {
  read: [[["1", "1", ...RECORD, ...RECORD]]],
  page: [[["1", "1", ...RECORD, ...RECORD]]],
  commit: [
    '{"kind":"committed","usages":[{"remaining":5,"refilledAt":0,"lastRefillAt":null}]}',
    '{"kind":"stale","index":0}',
    '{"kind":"refused","index":0,"reason":{"kind":"overflow","remaining":1}}',
  ].map((text) => [[text]]),
  charge: [...ANSWERS, "busy", "moved 1,2"].map((text) => [[text]]),
  readStatistics: [[["3600000", "VALID", "1"]]],
  addStatistics: [[["t"]]],
  deleteStatistics: [[["1", "2"]]],
  forget: [[["0", "0"]]],
  scan: [[["login"]]],
  readClock: [[["1773144000000"]]],
};

type Input = typeof input extends fc.Arbitrary<infer Value> ? Value : never;

function answerOf(
  replies: Readonly<Record<string, readonly unknown[]>>,
  { call, good, changes }: Input,
) {
  const [method, ask] = CALLS[call % CALLS.length] as (typeof CALLS)[number];
  const whole = replies[method] ?? [];
  const { value } = changed(whole[good % whole.length], changes);
  return { method, ask, value };
}

fuzz("whatever Redis answers, a store answers in the types of the port or refuses", {
  corpus: "redis-replies",
  runs: 800,
  input,
  feed: async (each) => {
    const { method, ask, value } = answerOf(REDIS, each);
    const answer = async () => value;
    const nothing = () => undefined;
    const client = {
      status: "ready",
      options: { enableOfflineQueue: false, maxRetriesPerRequest: 0 },
      evalsha: answer,
      eval: answer,
      info: async () =>
        "redis_version:7.2.0\r\nrole:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n",
      client: answer,
      time: answer,
      scan: answer,
      mget: async ([name]: readonly string[]) => (name === "lk:layout" ? [null] : value),
      wait: async () => 0,
      on: nothing,
      off: nothing,
      connect: async () => undefined,
      quit: async () => undefined,
      disconnect: nothing,
    };
    const store = redisStore(client as never);
    await expectAnswerOrRefusal(method, () => ask(store));
    await store.close();
  },
});

fuzz("whatever PostgreSQL answers, a store answers in the types of the port or refuses", {
  corpus: "postgres-replies",
  runs: 800,
  input,
  feed: async (each) => {
    const { method, ask, value } = answerOf(POSTGRES, each);
    const nothing = () => undefined;
    const query = async ({ text }: { readonly text: string }) => {
      if (text.includes("server_version_num"))
        return { rows: [["PostgreSQL 15", "150000", "UTF8", "true"]] };
      if (text.includes("schema_version")) return { rows: [["4"]] };
      return { rows: value };
    };
    const client = { query, release: nothing, on: nothing, removeListener: nothing };
    const pool = {
      totalCount: 1,
      connect: async () => client,
      end: async () => undefined,
      on: nothing,
    };
    const store = postgresStore(pool as never);
    await expectAnswerOrRefusal(method, () => ask(store));
    await store.close();
  },
});
