import { join } from "node:path";
import { type Deliveries, deliveriesOf, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { backup, restore } from "@latchkey/transfer";
import { expect, test } from "vitest";
import { tempFolder } from "../src/testing/temp-folder.js";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { readLog, sweep } from "./noticing.js";
import { openContext } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261127);
const TYPES = ["key.created", "key.hasExpired", "identity.created"] as const;
const ENDPOINT_ID = "whe_billing";

/** A sender of events to an endpoint. Each event is delivered, or stored to be sent again, before the position moves past it. */
class Sending {
  readonly taken = new Set<string>();
  readonly #deliveries: Deliveries;
  readonly #chance: Chance;

  constructor(latchkey: Latchkey, chance: Chance) {
    this.#deliveries = deliveriesOf(latchkey);
    this.#chance = chance;
  }

  async begin(): Promise<void> {
    const cursor = await this.#deliveries.endOfLog();
    await this.#deliveries.write((sender) => ({
      ...sender,
      endpoints: [{ id: ENDPOINT_ID, cursor, origin: null }],
    }));
  }

  async step(): Promise<void> {
    const page = await this.#readOn();
    const refused = page.found.filter(({ event }) => {
      if (this.#chance.below(2) === 0) return true;
      this.taken.add(event.id);
      return false;
    });
    const at = this.#deliveries.now();
    const puts = refused.map(({ event: { id: eventId }, number }) => {
      const ids = { endpointId: ENDPOINT_ID, eventId, number, lane: eventId };
      return { ...ids, state: "pending", tries: 1, since: at, at, failure: "500" } as const;
    });
    await this.#deliveries.write((sender) => sender, { puts });
    const endpoints = [{ id: ENDPOINT_ID, cursor: page.cursor, origin: null }];
    await this.#deliveries.write((sender) => ({ ...sender, endpoints }));
    for (const eventId of await this.#waiting()) {
      if (this.#chance.below(3) > 0) continue;
      this.taken.add(eventId);
      const taken = [{ endpointId: ENDPOINT_ID, eventId }];
      await this.#deliveries.write((sender) => sender, { taken });
    }
  }

  /** The events that are still to be sent. */
  async open(): Promise<readonly string[]> {
    const { found } = await this.#readOn();
    return [...found.map(({ event }) => event.id), ...(await this.#waiting())];
  }

  async #readOn() {
    const { endpoints } = await this.#deliveries.readSender();
    return this.#deliveries.readLog({ after: endpoints[0]?.cursor, limit: 100, types: TYPES });
  }

  async #waiting(): Promise<readonly string[]> {
    const { deliveries } = await this.#deliveries.listDeliveries("pending", ENDPOINT_ID, null);
    return deliveries.map(({ eventId }) => eventId);
  }
}

describeOnEveryStore("a backup of a store that serves meanwhile", (open, runs) => {
  const seeds = Array.from({ length: runs(16) }, (_, index) => SEED + index);
  test.each(seeds)(
    "has nothing done of which it does not have the result (seed %i)",
    async (seed) => {
      const chance = chanceOf(seed);
      const context = open();
      const { latchkey, store } = context;
      const { apiId } = await latchkey.createApi({ name: "maps" });
      const sending = new Sending(latchkey, chance);
      await sending.begin();
      const keyOf = (number: number) => ({ apiId, idempotencyKey: `key ${number}` });
      const identityOf = (number: number) => {
        return { externalId: `user_${number}`, idempotencyKey: `identity ${number}` };
      };
      let rounds = 0;
      const round = async () => {
        rounds += 1;
        context.advance(1_000);
        await latchkey.createKey({ apiId, expires: context.now() + 1 + chance.below(3_000) });
        await latchkey.createKey(keyOf(rounds));
        await latchkey.createIdentity(identityOf(rounds));
        if (chance.below(2) === 0) await latchkey.createApi({ name: `maps ${rounds}` });
        if (chance.below(2) === 0) await sweep(latchkey);
        if (chance.below(2) === 0) await sending.step();
      };
      for (let count = 0; count < 3; count += 1) await round();
      const serving = wrapped(store, {
        page: async (workspaceId, want) => {
          if (chance.below(3) === 0) await round();
          return store.page(workspaceId, want);
        },
      });
      const path = join(tempFolder(), "keys.lkb");
      await backup(serving, path);
      const target = memoryStore();
      await restore(target, path);

      const restored = openContext(() => target);
      restored.setClock(context.now());
      const resumed = new Sending(restored.latchkey, chance);
      const events = await readLog(restored.latchkey);
      const sent = new Set([...sending.taken, ...(await resumed.open())]);
      const isFor = ({ type }: (typeof events)[number]) =>
        (TYPES as readonly string[]).includes(type);
      expect(events.filter((event) => isFor(event) && !sent.has(event.id))).toEqual([]);
      const ids = new Set(events.map(({ id }) => id));
      const { deliveries } = await deliveriesOf(restored.latchkey).listDeliveries(
        "pending",
        ENDPOINT_ID,
        null,
      );
      expect(deliveries.filter(({ eventId }) => !ids.has(eventId))).toEqual([]);

      restored.advance(60_000);
      await sweep(restored.latchkey);
      const expired = await restored.latchkey.readEvents({ types: ["key.hasExpired"] });
      const told = new Set(expired.events.map(({ keyId }) => keyId));
      const { keys } = await restored.latchkey.listKeys({ apiId });
      const ended = keys.filter(({ expires }) => expires !== undefined);
      expect(ended.filter(({ id }) => !told.has(id))).toEqual([]);

      for (let number = 1; number <= rounds; number += 1) {
        const { keyId } = await restored.latchkey.createKey(keyOf(number));
        expect((await restored.latchkey.getKey({ keyId })).id).toBe(keyId);
        const repeated = restored.latchkey.createIdentity(identityOf(number));
        // The record exists, although nothing remembers that it was created.
        const identityId = await repeated.then(
          (made) => made.identityId,
          (error) => {
            expect(error).toMatchObject({ code: "CONFLICT", reason: "taken" });
            return null;
          },
        );
        const found = await restored.latchkey.getIdentity({ externalId: `user_${number}` });
        expect([found.id, null]).toContain(identityId);
      }
    },
  );
});
