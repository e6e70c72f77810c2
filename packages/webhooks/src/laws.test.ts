import { expect, test } from "vitest";
import { dyingStore } from "./testing/dying-store.js";
import { describeOnEveryStore } from "./testing/every-store.js";
import { type Received, startReceiver } from "./testing/receiver.js";
import { endpointAt, expectSigned, readAll, sendingProcess, until } from "./testing/sender.js";

const FIRST_SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261123);
const RUNS = Number(process.env.LATCHKEY_FUZZ_RUNS ?? 1);
const SEEDS = Array.from({ length: RUNS }, (_, index) => FIRST_SEED + index);

/** Draws whole numbers from 0 up to, but not including, `end`, with mulberry32. */
function chanceOf(seed: number) {
  let state = seed >>> 0;
  const below = (end: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  return { below, pick };
}

const DAY_MS = 86_400_000;

/** How a receiver answers a request that it does not take. */
const FAULTS = ["500", "302", "429", "410", "reset", "hang", "slow head"] as const;

describeOnEveryStore("webhooks", (openStore) => {
  test.each(SEEDS)(
    "deliver each event at least once or give it up, and keep each key in order, whatever receivers, processes and clocks do (seed %i)",
    {
      timeout: 60_000,
    },
    async (seed) => {
      const chance = chanceOf(seed);
      const open = openStore();
      const stores = [open(), open()];
      /** Requests in order of arrival, and whether the receiver took them. */
      const seen: { readonly one: Received; readonly isTaken: boolean }[] = [];
      let isCalm = false;
      const receiver = await startReceiver((response, one) => {
        const isTaken = isCalm || chance.below(3) > 0;
        seen.push({ one, isTaken });
        const fault = chance.pick(FAULTS);
        if (isTaken) response.writeHead(chance.pick([200, 202, 204])).end();
        else if (fault === "reset") response.destroy();
        else if (fault === "slow head") response.socket?.write("HTTP/1.1 2");
        else if (fault !== "hang")
          response.writeHead(Number(fault), { location: "/elsewhere" }).end();
      });
      const types = ["key.created", "key.updated"] as const;
      const options = {
        endpoints: [endpointAt(receiver.url, { types })],
        leaseMs: 300,
        retryForMs: 2_000,
        timeoutMs: 40,
        deadLettersForMs: 3_650 * DAY_MS,
      };
      let skipped = 0;
      const clock = () => Date.now() + skipped;
      const openProcess = () => {
        const dying = dyingStore(chance.pick(stores));
        return { ...dying, ...sendingProcess(dying.store, options, { clock }) };
      };
      const { latchkey, ...observer } = openProcess();
      const { apiId } = await latchkey.createApi({ name: "payments" });
      await observer.start();
      await observer.stop();
      const keyIds = [(await latchkey.createKey({ apiId })).keyId];
      const processes = [openProcess()];
      await processes[0]?.start();
      for (let step = 0; step < 40; step += 1) {
        const sender = processes[chance.below(processes.length)];
        const what = chance.below(20);
        if (what === 0) sender?.die();
        else if (what === 1) await sender?.stop();
        else if (what === 2) await sender?.start().catch(() => undefined);
        else if (what <= 4) {
          processes.push(openProcess());
          await processes.at(-1)?.start();
        } else if (what === 5) skipped += chance.below(2_000);
        else if (what === 6 && keyIds.length < 4)
          keyIds.push((await latchkey.createKey({ apiId })).keyId);
        else await latchkey.updateKey({ keyId: chance.pick(keyIds), name: `name ${step}` });
        if (chance.below(3) === 0)
          await new Promise((resolve) => setTimeout(resolve, chance.below(30)));
      }
      isCalm = true;
      const last = openProcess();
      await last.start();
      const events = (await readAll(latchkey)).filter(({ type }) =>
        types.some((one) => one === type),
      );
      const givenUp = async () => {
        const given = new Set<string>();
        let cursor: string | undefined;
        do {
          const page = await observer.listDeadLetters({ cursor });
          for (const { eventId } of page.deadLetters) given.add(eventId);
          cursor = page.cursor;
        } while (cursor !== undefined);
        return given;
      };
      const takenAtAll = () => seen.filter(({ isTaken }) => isTaken).map(({ one }) => one.eventId);
      await until(
        async () => new Set([...takenAtAll(), ...(await givenUp())]).size === events.length,
      );
      const given = await givenUp();
      const taken = new Set<string>();
      for (const { one, isTaken } of seen) {
        expectSigned(one);
        const ofKey = events.filter(({ keyId }) => keyId === one.about).map(({ id }) => id);
        const earlier = ofKey.slice(0, ofKey.indexOf(one.eventId));
        expect(earlier.filter((id) => !taken.has(id) && !given.has(id))).toEqual([]);
        if (isTaken) taken.add(one.eventId);
      }
    },
  );
});
