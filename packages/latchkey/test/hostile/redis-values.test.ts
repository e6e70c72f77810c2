import { redisStore } from "@latchkey/redis";
import { describeWithRedis, PATIENT, startServer, type TestServer } from "@latchkey/redis/testing";
import fc from "fast-check";
import { afterAll, beforeAll } from "vitest";
import { expectAnswerOrRefusal } from "./answers.js";
import { CALLS, fillStore } from "./calls.js";
import { fuzz } from "./fuzz.js";
import { hostileText } from "./values.js";
import { storedTexts } from "./words.js";

/** A part of a stored text, and its replacement. */
const edit = fc.record({
  from: fc.nat(80),
  length: fc.oneof(fc.nat(3), fc.constant(1_000)),
  text: fc.oneof(fc.constantFrom("", " ", "-", "0", "x", "\n", ":"), storedTexts, hostileText),
});

type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

function edited(text: string, { from, length, text: other }: Edit): string {
  const at = from % (text.length + 1);
  return text.slice(0, at) + other + text.slice(at + length);
}

describeWithRedis("values in Redis", () => {
  let server: TestServer;
  let store: ReturnType<typeof redisStore>;
  let client: ReturnType<TestServer["connect"]>;

  beforeAll(async () => {
    server = await startServer();
    client = server.connect();
    store = redisStore(server.url, PATIENT);
  });
  afterAll(async () => {
    await store.close();
    client.disconnect();
    await server.remove();
  });

  /** The places of all stored values: a key, and a field or a member of it. */
  async function places(): Promise<readonly (readonly [key: string, field: string | null])[]> {
    const found: [string, string | null][] = [];
    for (const key of (await client.keys("*")).sort()) {
      const type = await client.type(key);
      if (type === "hash") for (const field of await client.hkeys(key)) found.push([key, field]);
      else if (type === "zset")
        for (const member of await client.zrange(key, "0", "-1")) found.push([key, member]);
      else found.push([key, null]);
    }
    return found;
  }

  async function damage(key: string, field: string | null, change: Edit): Promise<void> {
    if (field === null)
      await client.set(key, edited((await client.get(key)) ?? "", change), "KEEPTTL");
    else if ((await client.type(key)) === "hash")
      await client.hset(key, field, edited((await client.hget(key, field)) ?? "", change));
    else await client.multi().zrem(key, field).zadd(key, "0", edited(field, change)).exec();
  }

  fuzz("whatever stands in a value, a store answers in the types of the port or refuses", {
    corpus: "redis-values",
    runs: 40,
    input: fc.array(fc.record({ place: fc.nat(1_000), change: edit }), {
      minLength: 1,
      maxLength: 3,
    }),
    feed: async (changes) => {
      await client.flushall();
      await fillStore(store);
      const all = await places();
      for (const { place, change } of changes) {
        const [key, field] = all[place % all.length] ?? ["", null];
        await damage(key, field, change);
      }
      for (const [method, ask] of CALLS) await expectAnswerOrRefusal(method, () => ask(store));
    },
  });
});
