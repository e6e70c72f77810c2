import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { PATIENT, startServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const KEYS = 1_000;
/** Most keys deleted in one step. */
const KEYS_A_STEP = 20;
/** Most Redis keys and arguments of one step: some twenty for each key with its entry in the audit log, and a few for the step. */
const MOST_PARAMETERS = 22 * KEYS_A_STEP;

describeWithServers("deleting an API of many keys", () => {
  test("stops them all with its first step, and lets other verifications through between short steps", async () => {
    const server = await startServer();
    const control = server.connect();
    const stores = [redisStore(server.url, PATIENT), redisStore(server.url, PATIENT)] as const;
    const [deleting, verifying] = stores.map((store) => createLatchkey({ store })) as [
      ReturnType<typeof createLatchkey>,
      ReturnType<typeof createLatchkey>,
    ];
    try {
      const { apiId: other } = await deleting.createApi({ name: "other" });
      const { key } = await deleting.createKey({ apiId: other });
      const { apiId } = await deleting.createApi({ name: "payments" });
      const issued: string[] = [];
      let begun = 0;
      const issue = async () => {
        while (begun < KEYS) {
          begun += 1;
          issued.push((await deleting.createKey({ apiId })).key);
        }
      };
      await Promise.all(Array.from({ length: 200 }, issue));
      // Logs all commands, with the number of their arguments.
      await control.config("SET", "slowlog-max-len", "100000");
      await control.config("SET", "slowlog-log-slower-than", "0");
      await control.slowlog("RESET");

      let isGone = false;
      let answered = 0;
      let firstRefused = -1;
      const deletion = deleting.deleteApi({ apiId }).finally(() => {
        isGone = true;
      });
      // A failure is reported at the end, where the deletion is awaited.
      deletion.catch(() => undefined);
      while (!isGone) {
        expect((await verifying.verifyKey({ key })).valid).toBe(true);
        answered += 1;
        const sample = await verifying.verifyKey({ key: issued.at(-1) ?? "" });
        if (!sample.valid && firstRefused < 0) firstRefused = answered;
        // Once refused, the key stays refused.
        if (firstRefused >= 0) expect(sample).toEqual({ valid: false, code: "NOT_FOUND" });
      }
      await deletion;
      await control.config("SET", "slowlog-log-slower-than", "-1");
      expect(firstRefused).toBeLessThanOrEqual(answered / 4);
      const log = (await control.slowlog("GET", "100000")) as [number, number, number, string[]][];
      const parameters = log.map(([, , , words]) => parametersOf(words));
      const spans = log.map(([, , micros]) => micros);
      const steps = spans.filter((_, index) => (parameters[index] as number) > 10 * KEYS_A_STEP);
      console.info(
        `${KEYS} keys deleted while ${answered} verifications of another API were answered; ` +
          `largest script: ${Math.max(...parameters)} parameters; steps of the deletion: ${steps.length}, ` +
          `half of them below ${steps.toSorted((one, other) => one - other)[steps.length >> 1]} µs`,
      );
      expect(Math.max(...parameters)).toBeLessThanOrEqual(MOST_PARAMETERS);
      // Between any two steps of the deletion, another call was served.
      expect(answered).toBeGreaterThanOrEqual(KEYS / KEYS_A_STEP / 2);

      const names: string[] = [];
      for await (const found of control.scanStream({ match: "lk:*", count: 1_000 })) {
        names.push(...(found as string[]));
      }
      // One record of a key is left, in the other API.
      const homes = names.filter((name) => /:r:key:/.test(name));
      const fields = await Promise.all(homes.map((name) => control.hkeys(name)));
      expect(fields.flat().filter((field) => !field.includes(" "))).toHaveLength(1);
      const lists = names.filter((name) => /:l:/.test(name));
      const sizes = await Promise.all(lists.map((name) => control.zcard(name)));
      // One key, one API, and the log of everything that was created and deleted.
      expect(sizes.toSorted((one, other) => one - other).slice(0, 2)).toEqual([1, 1]);
      expect(sizes).toHaveLength(3);
    } finally {
      control.disconnect();
      for (const store of stores) await store.close();
      await server.remove();
    }
  });
});

/** How many words a command had: Redis logs 31 of them, and the number of the rest. */
function parametersOf(words: readonly string[]): number {
  const more = /^\.\.\. \((\d+) more arguments\)$/.exec(words.at(-1) ?? "");
  return more === null ? words.length : words.length - 1 + Number(more[1]);
}
