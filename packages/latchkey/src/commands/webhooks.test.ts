import { createLatchkey, type Deliveries, deliveriesOf } from "@latchkey/core";

import { describe, expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore, TERMINAL } from "../testing/cli-store.js";

const ENDPOINT = "0123456789abcdef0123456789abcdef";
const NOON = Date.UTC(2031, 4, 17, 12);

/** A delivery that failed. */
const failed = (
  { event, number }: Awaited<ReturnType<Deliveries["readLog"]>>["found"][number],
  endpointId: string,
  state: "dead" | "pending",
) => ({
  ...{ endpointId, eventId: event.id, number, lane: event.resourceId, state },
  ...{ tries: 3, since: NOON, at: NOON, failure: "503" },
});

/** A store whose sender has given up `count` deliveries, and will retry one more. */
async function deadStore(count: number) {
  const store = cliStore();
  for (let at = 0; at <= count; at += 1) await store.run(`apis create --name api${at}`);
  const work = async <Answer>(
    run: (deliveries: ReturnType<typeof deliveriesOf>) => Promise<Answer>,
  ) => {
    const latchkey = createLatchkey({ store: openStore(store.url), clock: () => NOON });
    try {
      return await run(deliveriesOf(latchkey));
    } finally {
      await latchkey.close();
    }
  };
  await work(async (deliveries) => {
    const { found, cursor } = await deliveries.readLog({ limit: 100, types: ["api.created"] });
    const place = { id: ENDPOINT, cursor, origin: "https://billing.example" };
    await deliveries.write((sender) => ({ ...sender, endpoints: [place] }), {
      puts: found.map((each, at) => failed(each, ENDPOINT, at < count ? "dead" : "pending")),
    });
  });
  return { ...store, work };
}

describe("latchkey webhooks", () => {
  test("shows the progress of endpoints, and the dead letters", async () => {
    const { run, json } = await deadStore(2);
    await run("apis create --name later");
    expect(await json("webhooks endpoints")).toEqual([
      { endpointId: ENDPOINT, origin: "https://billing.example", unread: 1, waiting: 1 },
    ]);
    expect((await run("webhooks endpoints")).stdout).toBe(
      `${ENDPOINT}\thttps://billing.example\t1\t1\n`,
    );
    const letters = await json("webhooks dead-letters");
    expect(letters).toMatchObject([
      { origin: "https://billing.example", tries: 3, givenUpAt: NOON, failure: "503" },
      { event: { type: "api.created" } },
    ]);
    const { stdout } = await run("webhooks dead-letters");
    expect(stdout.split("\n")[0]?.split("\t").slice(1)).toEqual([
      "https://billing.example",
      "api.created",
      expect.stringMatching(/^api_/),
      "2031-05-17T12:00:00.000Z",
      "3",
      "503",
    ]);
    for (const list of ["endpoints", "dead-letters"]) {
      const terminal = { columns: 100, hasColors: false };
      const rows = (await run(`webhooks ${list}`, { terminal })).stdout.split("\n");
      expect(rows.length).toBeGreaterThan(2);
      expect(rows.filter((row) => row.length > 100)).toEqual([]);
    }
  });

  test("redelivers one dead letter, or all", async () => {
    const { run, json, work } = await deadStore(3);
    const [first] = await json("webhooks dead-letters");
    expect((await run(`webhooks redeliver ${first?.deadLetterId}`)).stdout).toBe(
      "1 dead letter will be sent again by the process that runs createWebhooks\n",
    );
    expect(await json("webhooks redeliver --all")).toEqual([{ redelivered: 2 }]);
    const asked = await work((deliveries) => deliveries.listDeliveries("asked", ENDPOINT, null));
    expect(asked.deliveries).toHaveLength(3);
    expect(await json("webhooks dead-letters")).toEqual([]);
    expect(await run("webhooks redeliver")).toMatchObject({ exitCode: 2 });
    expect(await run("webhooks redeliver dlv_1 --all")).toMatchObject({ exitCode: 2 });
    expect(await run("webhooks redeliver dlv_1")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("dead letter"),
    });
  });

  test("does not promise to send to an unknown endpoint", async () => {
    const { run, json, work } = await deadStore(1);
    await work((deliveries) => deliveries.write((sender) => ({ ...sender, endpoints: [] })));
    const [letter] = await json("webhooks dead-letters");
    expect(letter).toMatchObject({ origin: null, endpointId: ENDPOINT });
    expect(await run(`webhooks redeliver ${letter?.deadLetterId}`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("add it to createWebhooks"),
    });
    expect(await json("webhooks dead-letters")).toHaveLength(1);
  });

  test("redelivers all dead letters except those of unknown endpoints", async () => {
    const { run, json, work } = await deadStore(3);
    await work(async (deliveries) => {
      const { found } = await deliveries.readLog({ limit: 1, types: ["api.created"] });
      const puts = found.map((each) => failed(each, "f".repeat(32), "dead"));
      await deliveries.write((sender) => sender, { puts });
    });
    expect(await run("webhooks redeliver --all")).toEqual({
      exitCode: 0,
      stdout: "3 dead letters will be sent again by the process that runs createWebhooks\n",
      stderr: "latchkey: 1 dead letter stays: its endpoint is no longer known\n",
    });
    expect(await json("webhooks dead-letters")).toHaveLength(1);
  });

  test("deletes dead letters from before a date, on a terminal only with --yes", async () => {
    const { run, json } = await deadStore(2);
    expect(await run("webhooks prune")).toMatchObject({ exitCode: 2 });
    expect(await run("webhooks prune --before 1d", TERMINAL)).toMatchObject({ exitCode: 2 });
    expect((await run("webhooks prune --before 1d")).stdout).toBe("0 dead letters are deleted\n");
    expect(await json("webhooks prune --before 1ms")).toEqual([{ deleted: 2 }]);
    expect(await json("webhooks dead-letters")).toEqual([]);
  });
});
