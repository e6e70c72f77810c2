import { createLatchkey, deliveriesOf, EMPTY_CHANGE, type RecordKind } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore } from "../testing/cli-store.js";

/** Creates two records of each kind, the first of them damaged, and returns the id of the keys' API. */
async function fill(url: string): Promise<string> {
  const store = openStore(url);
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const { apiId: other } = await latchkey.createApi({ name: "maps" });
  const damage = async (kind: RecordKind, id: string) => {
    const record = { kind, id, version: 9, link: null, body: { broken: true } } as const;
    await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record }] });
  };
  const { keyId } = await latchkey.createKey({ apiId });
  await latchkey.createKey({ apiId });
  const made = await latchkey.createIdentity({ externalId: "user_1" });
  await latchkey.createIdentity({ externalId: "user_2" });
  const permissions = ["api.*.read_api"];
  const { rootKeyId } = await latchkey.createRootKey({ permissions });
  await latchkey.createRootKey({ permissions });
  await damage("api", other);
  await damage("key", keyId);
  await damage("identity", made.identityId);
  await damage("rootKey", rootKeyId);
  await latchkey.close();
  return apiId;
}

test("a list reports how many damaged records it left out", async () => {
  const { url, run } = cliStore();
  const apiId = await fill(url);
  for (const command of [
    "apis list",
    `keys list ${apiId}`,
    "keys find --enabled yes",
    "identities list",
    "root-key list",
  ])
    for (const json of ["", " --json"]) {
      const { exitCode, stdout, stderr } = await run(command + json);
      const lines = stdout.split("\n").filter(Boolean).length;
      expect([command, exitCode, lines, stderr]).toEqual([
        command,
        0,
        1,
        "latchkey: 1 more cannot be read\n",
      ]);
    }
});

test("the audit log reports how many damaged entries it left out", async () => {
  const { url, run } = cliStore();
  const store = openStore(url);
  const latchkey = createLatchkey({ store });
  await latchkey.createApi({ name: "tides" });
  await latchkey.createApi({ name: "maps" });
  const { events } = await latchkey.listAuditEvents({});
  const damaged = { kind: "auditEntry", id: events[1]?.id ?? "", version: 9, link: null } as const;
  const record = { ...damaged, body: { broken: true } };
  await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [{ record }] });
  await latchkey.close();
  for (const json of ["", " --json"]) {
    const { exitCode, stdout, stderr } = await run(`audit${json}`);
    expect([exitCode, stdout.split("\n").filter(Boolean).length]).toEqual([0, 1]);
    expect(stderr).toBe("latchkey: 1 more cannot be read\n");
  }
});

test("the dead letters that are damaged are counted, in the list and when all others are sent again", async () => {
  const { url, run } = cliStore();
  const store = openStore(url);
  const latchkey = createLatchkey({ store });
  await latchkey.createApi({ name: "tides" });
  await latchkey.createApi({ name: "maps" });
  const deliveries = deliveriesOf(latchkey);
  const { found, cursor } = await deliveries.readLog({ limit: 100, types: ["api.created"] });
  const endpointId = "0123456789abcdef0123456789abcdef";
  const endpoints = [{ id: endpointId, cursor, origin: "https://billing.example" }];
  const failed = { endpointId, state: "dead", tries: 3, since: 1, at: 1, failure: "503" } as const;
  await deliveries.write((sender) => ({ ...sender, endpoints }), {
    puts: found.map(({ event, number }) => {
      const { id: eventId, resourceId: lane } = event;
      return { ...failed, eventId, number, lane };
    }),
  });
  const { dead } = await deliveries.listDead({});
  const want = { kind: "delivery", id: dead[0]?.delivery.id ?? "" } as const;
  const [loaded] = (await store.read("ws_default", [want])).found;
  if (!loaded) throw new Error("there is no such delivery");
  const put = { record: { ...loaded.record, version: 9, body: { broken: true } } };
  await store.commit("ws_default", { ...EMPTY_CHANGE, puts: [put] });
  await latchkey.close();
  for (const command of ["webhooks dead-letters", "webhooks redeliver --all"])
    for (const json of ["", " --json"]) {
      const { exitCode, stderr } = await run(command + json);
      expect([command, exitCode, stderr]).toEqual([
        command,
        0,
        "latchkey: 1 more cannot be read\n",
      ]);
    }
});
