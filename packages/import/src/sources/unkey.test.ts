import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHandler, toNodeListener } from "@latchkey/http";
import { Unkey } from "@unkey/api";
import { expect, onTestFinished, test } from "vitest";
import { openSource } from "../open-source.js";
import {
  hashOf,
  inPieces,
  issuesOf,
  keyRing,
  openLatchkey,
  runImport,
} from "../testing/imports.js";

const NO_HASH =
  "hash is not in the response: ask Unkey for the hashes of your keys, or export recoverable keys with decrypt=true";

const lines = (...answers: readonly unknown[]) =>
  openSource("unkey", inPieces(answers.map((answer) => JSON.stringify(answer)).join("\n"), 100));

/** The published client of the v1 contract, against a server on loopback. */
async function openClient() {
  const latchkey = openLatchkey(undefined, { vault: keyRing(1), clock: Date.now });
  const server = createServer(toNodeListener(createHandler({ latchkey })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new Unkey({ rootKey, baseUrl, disableTelemetry: true });
}

test("responses of the v1 contract's own client can be imported, with or without its wrapper", async () => {
  const unkey = await openClient();
  const { result: api } = await unkey.apis.create({ name: "tide tables" });
  const apiId = api?.apiId as string;
  await unkey.permissions.createPermission({ name: "tides.read" });
  const secrets: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const { result } = await unkey.keys.create({
      apiId,
      prefix: "tide",
      name: `pier ${at}`,
      externalId: `harbour_${at}`,
      meta: { berth: at },
      permissions: ["tides.read"],
      remaining: 10,
      refill: { interval: "monthly", amount: 10, refillDay: 31 },
      ratelimit: { async: true, limit: 5, duration: 60_000 },
      recoverable: at < 4,
      environment: "live",
    });
    secrets.push(result?.key as string);
  }
  const page = await unkey.apis.listKeys({ apiId, limit: 2, decrypt: true });
  const rest = await unkey.apis.listKeys({
    apiId,
    decrypt: true,
    ...(page.result?.cursor !== undefined && { cursor: page.result.cursor }),
  });
  const keyId = rest.result?.keys[0]?.id as string;
  const one = await unkey.keys.get({ keyId, decrypt: true });
  const refused = await unkey.keys.get({ keyId: "key_none" });
  const from = () => lines(page, rest.result, one.result, refused, 7);
  const into = openLatchkey(undefined, { clock: Date.now });
  const { report, rows } = await runImport({ from: from(), into, apiName: "tide tables" });
  expect(report).toMatchObject({ written: 4, alreadyThere: 1, skipped: 3 });
  expect(issuesOf(rows)).toEqual([
    `5 ${NO_HASH}`,
    "7  is an error response from Unkey (line 4)",
    "8  is not a key (line 5)",
  ]);
  for (const [at, key] of secrets.slice(0, 4).entries())
    expect(
      await into.verifyKey({ key, authorization: { permissions: "tides.read" } }),
    ).toMatchObject({
      code: "VALID",
      name: `pier ${at}`,
      ownerId: `harbour_${at}`,
      meta: { berth: at },
      remaining: 9,
      environment: "live",
      ratelimit: { limit: 5 },
    });
  const again = await runImport({ from: from(), into, apiName: "tide tables" });
  expect(again.report).toMatchObject({ written: 0, alreadyThere: 5 });
});

test("hashes may be next to the keys, and deleted keys are not imported", async () => {
  const into = openLatchkey();
  const { apiId } = await into.createApi({ name: "tide tables" });
  const key = { id: "key_1", apiId, start: "tide_9Kx", createdAt: 1_700_000_000_000 };
  const { report, rows } = await runImport({
    from: lines([
      {
        ...key,
        hash: hashOf("tide_1", "base64"),
        identity: { externalId: "pier-7", meta: { a: 1 } },
      },
      {
        ...key,
        hash: { value: hashOf("tide_2"), variant: "sha256_hex" },
        remaining: 0,
        enabled: false,
      },
      { ...key, hash: hashOf("tide_3"), deletedAt: 1_700_000_000_001 },
    ]),
    into,
  });
  expect(issuesOf(rows)).toEqual(["3 deletedAt says that the key is deleted"]);
  expect(report.notes[0]).toMatchObject({ field: "enabled", firstRow: 2 });
  expect(await into.verifyKey({ key: "tide_1" })).toMatchObject({
    code: "VALID",
    identity: { externalId: "pier-7", meta: { a: 1 } },
  });
});
