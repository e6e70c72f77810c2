import { EMPTY_CHANGE, type KeyStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, expect, test } from "vitest";
import { EXPORT_FORMATS, type ExportFormat, exportHeader, exportText } from "./export-format.js";
import { exportKeys } from "./export-keys.js";
import { openSource } from "./open-source.js";
import {
  DAY_MS,
  hashOf,
  inPieces,
  keyRing,
  NOON,
  openLatchkey,
  runImport,
} from "./testing/imports.js";

type OpenLatchkey = ReturnType<typeof openLatchkey>;

const VAULT = keyRing(1);

/** The text of an export, and its last page. */
async function exported(from: OpenLatchkey, format: ExportFormat, apiId?: string) {
  let text = exportHeader(format);
  let last: object = {};
  for await (const { keys, ...counts } of exportKeys({ from, apiId })) {
    text += exportText(format, keys);
    last = counts;
  }
  return { text, last };
}

/** A workspace with a key of every kind. */
async function fill(latchkey: OpenLatchkey) {
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const { apiId: other } = await latchkey.createApi({ name: "maps" });
  await latchkey.createPermission({ name: "tides.read" });
  await latchkey.createPermission({ name: "tides.write" });
  await latchkey.createRole({ name: "harbour", permissions: ["tides.write"] });
  await latchkey.createIdentity({
    externalId: "pier-7",
    meta: { plan: "gold" },
    ratelimits: [{ name: "requests", limit: 100, duration: 1_000, autoApply: true }],
    remaining: 50,
    refill: { interval: "daily", amount: 50 },
  });
  const plain = await latchkey.createKey({ apiId });
  const full = await latchkey.createKey({
    apiId,
    prefix: "tide",
    name: 'north "pier", =1+1\n',
    externalId: "pier-7",
    meta: { berth: 4, nested: { a: [1, "b"] } },
    roles: ["harbour"],
    permissions: ["tides.read"],
    expires: NOON + DAY_MS,
    remaining: 10,
    refill: { interval: "monthly", amount: 10, refillDay: 31 },
    ratelimit: { limit: 10, duration: 60_000 },
    ratelimits: [{ name: "tiles", limit: 3, duration: 1_000, autoApply: true }],
    recoverable: true,
    environment: "live",
  });
  const shared = await latchkey.createKey({
    apiId: other,
    externalId: "pier-7",
    usesFrom: "identity",
  });
  const off = await latchkey.createKey({ apiId: other, enabled: false, remaining: 1 });
  await latchkey.verifyKey({ key: full.key });
  return { apiId, secrets: [plain, full, shared, off].map(({ key }) => key) };
}

/** The keys as callers see them, without the fields that an import creates anew. */
async function listed(latchkey: OpenLatchkey) {
  const { apis } = await latchkey.listApis();
  const pages = await Promise.all(
    apis.map(({ id }) => latchkey.listKeys({ apiId: id }, { forExport: true })),
  );
  return pages.map(({ keys }) =>
    keys.map(({ id, apiId, updatedAt, lastUsedAt, identity, stored, ...key }) => ({
      ...key,
      stored: { ...stored, recoverable: false },
      identity: identity && { ...identity, id: "" },
    })),
  );
}

const STORES: readonly [string, () => KeyStore][] = [
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore(":memory:")],
];

describe.each(STORES)("an export of %s", (_name, openStore) => {
  test.each(EXPORT_FORMATS)("as %s can be imported completely", async (format) => {
    const from = openLatchkey(openStore(), { vault: VAULT });
    const { secrets } = await fill(from);
    const { text, last } = await exported(from, format);
    expect(last).toEqual({ exported: 4, sealed: 1, peppered: 0, damaged: 0 });
    const into = openLatchkey(openStore());
    // Roles are created anew, without permissions.
    await into.createPermission({ name: "tides.write" });
    await into.createRole({ name: "harbour", permissions: ["tides.write"] });
    const source = openSource(format, inPieces(text));
    const { report } = await runImport({ from: source, into });
    expect(report).toMatchObject({
      written: 4,
      skipped: 0,
      created: { apis: ["tides", "maps"], permissions: ["tides.read"], roles: [] },
      ignoredColumns: [],
    });
    expect(await listed(into)).toEqual(await listed(from));
    const identity = await from.getIdentity({ externalId: "pier-7" });
    expect(await into.getIdentity({ externalId: "pier-7" })).toEqual({
      ...identity,
      id: expect.any(String),
    });
    const codes = [];
    for (const key of secrets) codes.push((await into.verifyKey({ key })).code);
    expect(codes).toEqual(["VALID", "VALID", "VALID", "DISABLED"]);
    await Promise.all([from.close(), into.close()]);
  });
});

test.each(EXPORT_FORMATS)(
  "a key that expired because nobody used it stays expired after an import of %s",
  async (format) => {
    let now = NOON;
    const settings = { usage: { flushMs: 1_000 }, clock: () => now } as const;
    const from = openLatchkey(memoryStore(), settings);
    const { apiId } = await from.createApi({ name: "tides" });
    const spans = [
      { expiresWhenUnused: DAY_MS },
      { expiresWhenUnused: DAY_MS, expires: NOON + DAY_MS + 5 },
      { expiresWhenUnused: DAY_MS, expires: NOON + DAY_MS - 5 },
      { expiresWhenUnused: 3 * DAY_MS },
    ];
    const secrets: string[] = [];
    for (const span of spans) secrets.push((await from.createKey({ apiId, ...span })).key);
    now += 2 * DAY_MS;
    const { text } = await exported(from, format);
    const into = openLatchkey(memoryStore(), settings);
    await runImport({ from: openSource(format, inPieces(text)), into });
    const { apis } = await into.listApis();
    const { keys } = await into.listKeys({ apiId: apis[0]?.id ?? "" });
    expect(keys.map(({ expires }) => expires)).toEqual([
      NOON + DAY_MS,
      NOON + DAY_MS,
      NOON + DAY_MS - 5,
      undefined,
    ]);
    for (const latchkey of [from, into]) {
      const codes = [];
      for (const key of secrets) codes.push((await latchkey.verifyKey({ key })).code);
      expect(codes).toEqual(["EXPIRED", "EXPIRED", "EXPIRED", "VALID"]);
      await latchkey.close();
    }
  },
);

test.each(STORES)(
  "if an API is deleted meanwhile, an export of %s of all APIs continues",
  async (_name, openStore) => {
    const from = openLatchkey(openStore());
    // The first API has two pages and is deleted between them. The second is deleted before its only page.
    const names = ["first", "second", "third"];
    for (const name of names) {
      const { apiId } = await from.createApi({ name });
      const count = name === "first" ? 101 : 1;
      for (let at = 0; at < count; at += 1) await from.createKey({ apiId });
    }
    const { apis } = await from.listApis();
    const sizes: Record<string, number> = {};
    for await (const { keys } of exportKeys({ from })) {
      if (Object.keys(sizes).length === 0)
        for (const { id: apiId } of apis.slice(0, 2)) await from.deleteApi({ apiId });
      for (const { api } of keys) sizes[api] = (sizes[api] ?? 0) + 1;
    }
    expect(sizes).toEqual({ first: 100, third: 1 });
    await from.close();
  },
);

test.each(STORES)(
  "an export of %s reports the number of damaged APIs, and leaves out their keys",
  async (_name, openStore) => {
    const store = openStore();
    const from = openLatchkey(store);
    const damage = async (apiId: string) => {
      const { found } = await store.read("ws_default", [{ kind: "api", id: apiId }]);
      const puts = found.flatMap((loaded) =>
        loaded === null ? [] : [{ record: { ...loaded.record, body: { broken: true } } }],
      );
      await store.commit("ws_default", { ...EMPTY_CHANGE, puts });
    };
    const { apiId } = await from.createApi({ name: "tides" });
    const { apiId: other } = await from.createApi({ name: "maps" });
    for (const owner of [apiId, apiId, other]) await from.createKey({ apiId: owner });
    expect((await exported(from, "jsonl")).last).not.toHaveProperty("damagedApis");
    await damage(apiId);
    const left = { exported: 1, sealed: 0, peppered: 0, damaged: 0, damagedApis: 1 };
    expect((await exported(from, "jsonl")).last).toEqual(left);
    await damage(other);
    const none = { exported: 0, sealed: 0, peppered: 0, damaged: 0, damagedApis: 2 };
    expect((await exported(from, "jsonl")).last).toEqual(none);
    await from.close();
  },
);

test("if an API is deleted meanwhile, an export of that API fails", async () => {
  const from = openLatchkey();
  const { apiId } = await from.createApi({ name: "tides" });
  for (let at = 0; at < 101; at += 1) await from.createKey({ apiId });
  const pages = exportKeys({ from, apiId });
  await pages.next();
  await from.deleteApi({ apiId });
  await expect(pages.next()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("an export contains no secret, encrypted or not, and reports how many it left out", async () => {
  const from = openLatchkey(undefined, { vault: VAULT });
  const { secrets, apiId } = await fill(from);
  for (const format of EXPORT_FORMATS) {
    const { text } = await exported(from, format);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain(hashOf(secrets[0] as string, "base64url"));
    expect(text).not.toMatch(/sealed|plaintext/i);
  }
  const { last } = await exported(from, "jsonl", apiId);
  expect(last).toMatchObject({ exported: 2, sealed: 1 });
});

test("on request, cells that a spreadsheet takes for formulas are escaped, and nothing else is changed", async () => {
  const from = openLatchkey();
  const { apiId } = await from.createApi({ name: "tides" });
  const names = ["=HYPERLINK(1)", "+1", "-1", "@a", "\t=1", "＝1", "plain", "a=1"];
  for (const name of names) await from.createKey({ apiId, name, externalId: "=user" });
  for await (const { keys } of exportKeys({ from })) {
    const raw = exportText("csv", keys);
    const escaped = exportText("csv", keys, { escapeFormulas: true });
    for (const name of names.slice(0, 6)) expect(escaped).toContain(`'${name}`);
    expect(escaped).not.toMatch(/,"?[=+@\t]/);
    expect(escaped.replaceAll("'", "")).toBe(raw);
    // One in sixty-four hashes starts with a -.
    const odd = keys.map((key) => ({ ...key, hash: { ...key.hash, value: `-${key.hash.value}` } }));
    expect(exportText("csv", odd, { escapeFormulas: true })).toMatch(/^-/m);
    expect(exportText("jsonl", keys, { escapeFormulas: true })).toBe(exportText("jsonl", keys));
  }
});

test("an exported hash names its pepper, and an import skips it", async () => {
  const from = openLatchkey(undefined, { pepper: keyRing(50) });
  const { apiId } = await from.createApi({ name: "tides" });
  await from.createKey({ apiId });
  for (const format of EXPORT_FORMATS) {
    const { text, last } = await exported(from, format);
    expect(last).toMatchObject({ exported: 1, peppered: 1 });
    const into = openLatchkey();
    const { report } = await runImport({ from: openSource(format, inPieces(text)), into });
    expect(report).toMatchObject({ written: 0, skipped: 1 });
    expect(report.issues[0]?.field).toBe("hash.pepper");
  }
});

test("keys of several pages are all exported, each once", async () => {
  const from = openLatchkey();
  const { apiId } = await from.createApi({ name: "tides" });
  for (let at = 0; at < 3; at += 1)
    await from.createKeys(
      Array.from({ length: 90 }, (_, index) => ({
        apiId,
        hash: { value: hashOf(`${at} ${index}`), variant: "sha256_hex" as const },
      })),
    );
  const ids = new Set<string>();
  const pages: number[] = [];
  for await (const { keys } of exportKeys({ from })) {
    pages.push(keys.length);
    for (const { id } of keys) ids.add(id);
  }
  expect([pages, ids.size]).toEqual([[100, 100, 70], 270]);
});

test("the owners of a page do not wait for each other, and each is read once", async () => {
  const latchkey = openLatchkey();
  const { apiId } = await latchkey.createApi({ name: "tides" });
  for (let at = 0; at < 30; at += 1)
    await latchkey.createIdentity({ externalId: `user_${at}`, meta: { at } });
  for (let at = 0; at < 60; at += 1)
    await latchkey.createKey({ apiId, externalId: `user_${at % 30}` });
  let [now, max, reads] = [0, 0, 0];
  const from = {
    ...latchkey,
    getIdentity: async (...given: Parameters<OpenLatchkey["getIdentity"]>) => {
      [now, reads] = [now + 1, reads + 1];
      max = Math.max(max, now);
      const identity = await latchkey.getIdentity(...given);
      now -= 1;
      return identity;
    },
  };
  const owners: unknown[] = [];
  for await (const { keys } of exportKeys({ from }))
    owners.push(...keys.map(({ identity }) => identity?.meta));
  expect(owners).toEqual(Array.from({ length: 60 }, (_, at) => ({ at: at % 30 })));
  expect(reads).toBe(30);
  expect(max).toBeGreaterThan(5);
});
