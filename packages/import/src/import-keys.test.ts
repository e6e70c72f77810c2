import { sqliteStore } from "@latchkey/sqlite";
import { expect, test } from "vitest";
import { formatReport } from "./format-report.js";
import { importKeys } from "./import-keys.js";
import { openSource } from "./open-source.js";
import type { ImportSource } from "./row.js";
import {
  DAY_MS,
  hashOf,
  inPieces,
  issuesOf,
  NOON,
  openLatchkey,
  runImport,
} from "./testing/imports.js";

const secret = (at: number) => `tide_${at.toString(16).padStart(32, "0")}`;

const jsonl = (...rows: readonly object[]) =>
  openSource("jsonl", inPieces(rows.map((row) => `${JSON.stringify(row)}\n`).join("")));

test("keys keep working, whatever the form of their hash", async () => {
  const latchkey = openLatchkey();
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const from = jsonl(
    { hash: hashOf(secret(1), "hex") },
    { hash: hashOf(secret(2), "base64") },
    { hash: hashOf(secret(3), "base64url") },
    { hash: { value: hashOf(secret(4)).toUpperCase(), variant: "sha256_hex" } },
    { plaintext: secret(5) },
  );
  const { report } = await runImport({ from, into: latchkey, apiId });
  expect(report).toMatchObject({ isDone: true, rows: 5, written: 5, alreadyThere: 0, skipped: 0 });
  for (const at of [1, 2, 3, 4, 5])
    expect(await latchkey.verifyKey({ key: secret(at) })).toMatchObject({ code: "VALID", apiId });
});

test("a bad row stops no other, and is reported with its field and reason", async () => {
  const latchkey = openLatchkey();
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const lines = [
    JSON.stringify({ apiId, hash: hashOf(secret(1)) }),
    "{ not json",
    "",
    "[]",
    JSON.stringify({ apiId, name: "no hash" }),
    JSON.stringify({ apiId, hash: "too short", remaining: -1 }),
    JSON.stringify({ apiId: "api_other", hash: hashOf(secret(2)) }),
    JSON.stringify({ hash: hashOf(secret(2)) }),
    JSON.stringify({ apiId, hash: hashOf(secret(3)), createdAt: NOON + 1, expires: 1_700_000_000 }),
    JSON.stringify({ apiId, hash: hashOf(secret(3)), meta: "{" }),
    JSON.stringify({ apiId, hash: hashOf(secret(3)), remaining: -1, name: "", refill: "daily" }),
    JSON.stringify({ apiId, hash: hashOf(secret(4)) }),
    JSON.stringify({ apiId, plaintext: 1_234_567_890_123_456 }),
  ];
  const from = openSource("jsonl", inPieces(lines.join("\n")));
  const { report, rows } = await runImport({ from, into: latchkey });
  expect(issuesOf(rows)).toEqual([
    "2  is not JSON",
    "4  is not an object",
    "5 hash is missing, and so is plaintext: nothing could verify the key",
    "6 hash.value is not a SHA-256 hash, which has 64 digits in hexadecimal, 44 characters in base64, 43 in base64url without padding",
    "7 apiId is not an API of this workspace: name the API of all rows",
    "8 apiId is missing: name the API of all rows",
    '9 expires is before 1973: if it is in seconds, set "unit": "s"',
    "10 meta must be JSON",
    "11 refill must be JSON",
    "13 plaintext must be a string of 1 to 512 printable ASCII characters",
  ]);
  expect(report).toMatchObject({ rows: 12, written: 2, skipped: 10 });
  expect((await latchkey.verifyKey({ key: secret(4) })).code).toBe("VALID");
});

test("a second run writes nothing and finds every key, even after uses, changes and an interrupted run", async () => {
  const latchkey = openLatchkey();
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const rows = Array.from({ length: 250 }, (_, at) => ({
    hash: hashOf(secret(at)),
    remaining: 5,
    permissions: ["tides.read"],
    externalId: `pier-${at % 7}`,
  }));
  let isFirst = true;
  for await (const { written } of importKeys({ from: jsonl(...rows), into: latchkey, apiId })) {
    expect([isFirst, written]).toEqual([true, 100]);
    isFirst = false;
    break;
  }
  await latchkey.verifyKey({ key: secret(3) });
  const second = await runImport({ from: jsonl(...rows), into: latchkey, apiId });
  expect(second.report).toMatchObject({ written: 150, alreadyThere: 100, skipped: 0 });
  const { events } = await latchkey.listAuditEvents();
  const third = await runImport({ from: jsonl(...rows), into: latchkey, apiId });
  expect(third.report).toMatchObject({ written: 0, alreadyThere: 250, skipped: 0 });
  expect((await latchkey.listAuditEvents()).events[0]?.id).toBe(events[0]?.id);
  expect(await latchkey.verifyKey({ key: secret(3) })).toMatchObject({ remaining: 3 });
});

test("a dry run reports what the import will do, and writes nothing", async () => {
  const latchkey = openLatchkey();
  const rows = [
    { api: "tides", hash: hashOf(secret(1)), permissions: ["tides.read"], roles: ["harbour"] },
    { api: "tides", hash: hashOf(secret(1)) },
    { api: "tides", hash: hashOf(secret(2)), expires: "soon" },
    { api: "t", hash: hashOf(secret(3)) },
  ];
  const dry = await runImport({ from: jsonl(...rows), into: latchkey, dryRun: true });
  expect(dry.report).toMatchObject({
    isDryRun: true,
    created: { apis: ["tides"], permissions: ["tides.read"], roles: ["harbour"] },
  });
  const nothing = [await latchkey.listApis(), await latchkey.listPermissions()];
  expect(nothing).toMatchObject([{ total: 0 }, []]);
  expect((await latchkey.listAuditEvents()).events).toEqual([]);
  const real = await runImport({ from: jsonl(...rows), into: latchkey });
  expect(real.report.created).toEqual(dry.report.created);
  expect([real.report.written, real.report.alreadyThere]).toEqual([1, 1]);
});

test("nothing is created for skipped rows, and a dry run gives the same reasons", async () => {
  const latchkey = openLatchkey();
  const row = { api: "tides", permissions: ["tides.read"], roles: ["harbour"] };
  const rows = [
    { ...row, hash: hashOf(secret(1)), api: "t", externalId: "pier-1", identity: { meta: {} } },
    { ...row, hash: hashOf(secret(2)), externalId: "pier-2", identity: { remaining: "x" } },
    { ...row, hash: "too short" },
  ];
  const dry = await runImport({ from: jsonl(...rows), into: latchkey, dryRun: true });
  const real = await runImport({ from: jsonl(...rows), into: latchkey });
  expect(issuesOf(real.rows).map((issue) => issue.split(" ", 2).join(" "))).toEqual([
    "1 api",
    "2 identity.remaining",
    "3 hash.value",
  ]);
  expect(real.rows).toEqual(dry.rows);
  expect(real.report.created).toEqual({ apis: [], permissions: [], roles: [] });
  expect((await latchkey.listAuditEvents()).events).toEqual([]);
});

test("nothing is created for rows above a ceiling of their API either, although their permissions are missing", async () => {
  const latchkey = openLatchkey();
  const ceilings = { maxRemaining: 10, maxKeysPerIdentity: 1, permissions: ["tides.*"] };
  await latchkey.createApi({ name: "tides", ceilings });
  const row = { api: "tides", remaining: 5, permissions: ["tides.read"] };
  const owned = (externalId: string) => ({ externalId, identity: { meta: { plan: "gold" } } });
  const rows = [
    { ...row, hash: hashOf(secret(1)), remaining: 100, ...owned("pier-1") },
    { ...row, hash: hashOf(secret(2)), permissions: ["boats.read"], ...owned("pier-2") },
    { ...row, hash: hashOf(secret(3)), ...owned("pier-3") },
    { ...row, hash: hashOf(secret(4)), roles: ["harbour"], ...owned("pier-3") },
    { ...row, hash: hashOf(secret(3)), permissions: ["tides.write"], ...owned("pier-4") },
  ];
  const dry = await runImport({ from: jsonl(...rows), into: latchkey, dryRun: true });
  const real = await runImport({ from: jsonl(...rows), into: latchkey });
  expect(real.rows.map(({ outcome }) => outcome)).toEqual([
    "skipped",
    "skipped",
    "written",
    "skipped",
    "already there",
  ]);
  expect(dry.rows).toEqual(real.rows.map((each) => ({ ...each, keyId: undefined })));
  const created = { apis: [], permissions: ["tides.read"], roles: [] };
  expect([real.report.created, dry.report.created]).toEqual([created, created]);
  const { identities } = await latchkey.listIdentities();
  expect(identities.map(({ externalId }) => externalId)).toEqual(["pier-3"]);
});

test("an impossible API name is refused before any row is read", async () => {
  const from = jsonl({ hash: hashOf(secret(1)) });
  await expect(runImport({ from, into: openLatchkey(), apiName: "t" })).rejects.toMatchObject({
    code: "BAD_REQUEST",
    issues: [{ path: "apiName", message: expect.stringContaining("3 to 256 characters") }],
  });
});

test("a new owner is created once with its settings, and an existing one keeps its own", async () => {
  const latchkey = openLatchkey();
  await latchkey.createIdentity({ externalId: "known", meta: { plan: "gold" } });
  const identity = {
    meta: { plan: "new" },
    remaining: 0,
    refill: { interval: "daily", amount: 9 },
  };
  const row = { api: "tides", usesFrom: "identity", identity };
  const from = jsonl(
    { ...row, hash: hashOf(secret(1)), externalId: "new" },
    { ...row, hash: hashOf(secret(2)), externalId: "new" },
    { ...row, hash: hashOf(secret(3)), externalId: "known" },
    { ...row, hash: hashOf(secret(4)), externalId: "bad", identity: { remaining: "x" } },
  );
  const { rows } = await runImport({ from, into: latchkey });
  expect(issuesOf(rows)).toEqual(["4 identity.remaining must be a whole number >= 1"]);
  expect(await latchkey.getIdentity({ externalId: "new" })).toMatchObject(identity);
  expect(await latchkey.getIdentity({ externalId: "known" })).toMatchObject({
    meta: { plan: "gold" },
  });
  expect((await latchkey.verifyKey({ key: secret(2) })).code).toBe("USAGE_EXCEEDED");
});

test("an instant beyond the range of dates is refused in its row", async () => {
  const row = (number: number) => ({ api: "tides", hash: hashOf(secret(number)) });
  const from = jsonl({ ...row(1), expires: 9e15 }, { ...row(2), createdAt: 9e15 }, row(3));
  const { rows } = await runImport({ from, into: openLatchkey() });
  expect(issuesOf(rows).map((issue) => issue.slice(0, 40))).toEqual([
    "1 expires must be an instant from 1 to 8",
    "2 createdAt must be an instant from 0 to",
    "2 createdAt must not be later than now",
  ]);
});

test("an owner without uses never has any, even if the process ends right after its creation", async () => {
  const latchkey = openLatchkey();
  const into = Object.assign(Object.create(latchkey), {
    createIdentity: async (...given: Parameters<typeof latchkey.createIdentity>) => {
      await latchkey.createIdentity(...given);
      throw new Error("killed");
    },
  });
  const row = {
    api: "tides",
    hash: hashOf(secret(1)),
    externalId: "used up",
    usesFrom: "identity",
  };
  const rows = [{ ...row, identity: { remaining: 0 } }];
  await expect(runImport({ from: jsonl(...rows), into })).rejects.toThrow("killed");
  expect(await latchkey.getIdentity({ externalId: "used up" })).toMatchObject({ remaining: 0 });
  await runImport({ from: jsonl(...rows), into: latchkey });
  expect((await latchkey.verifyKey({ key: secret(1) })).code).toBe("USAGE_EXCEEDED");
});

test("if a file cannot be read to its end, the report says from which row", async () => {
  const from = openSource(
    "csv",
    inPieces(`hash,name\n${hashOf(secret(1))},a\n${hashOf(secret(2))},"b\n`),
  );
  const { report } = await runImport({ from, into: openLatchkey(), apiName: "tides" });
  expect(report).toMatchObject({ written: 1, skipped: 1, unreadFrom: 3 });
  expect(formatReport(report)).toContain("could not be read from row 3 on");
});

test("the report says that columns without a field need a map", async () => {
  const from = openSource("csv", inPieces(`token_sha256\n${hashOf(secret(1))}\n`));
  const { report } = await runImport({ from, into: openLatchkey(), apiName: "tides" });
  expect(formatReport(report)).toContain(
    "Columns not read, because no map says to which field they go: token_sha256",
  );
});

test("what a source calls its columns and keys moves no cursor", async () => {
  const text = `hash,id,\u001b[2J\n,key\u001b[1A\u009b1A\u202e,\n`;
  const from = openSource("csv", inPieces(text));
  const { report } = await runImport({ from, into: openLatchkey(), apiName: "tides" });
  const printed = formatReport(report);
  expect(printed).toContain("row 2, id key\\u001b[1A\\u009b1A\\u202e");
  expect(printed).toContain("to which field they go: \\u001b[2J");
  expect(printed).not.toMatch(/[^\P{Cc}\n]/u);
});

test("a day that does not exist is refused by row", async () => {
  const from = jsonl({ hash: hashOf(secret(1)), expires: "2030-02-30" });
  const { rows } = await runImport({ from, into: openLatchkey(), apiName: "tides" });
  expect(issuesOf(rows)).toEqual([expect.stringContaining("1 expires must be")]);
});

test("every field arrives, an expired key stays expired", async () => {
  const latchkey = openLatchkey();
  const from = jsonl({
    api: "tides",
    hash: hashOf(secret(1)),
    start: "tide_01",
    name: "north pier",
    externalId: "pier-7",
    meta: { berth: 4 },
    permissions: "tides.read tides.write",
    createdAt: "2025-01-31 08:00:00.5+01",
    expires: new Date(NOON - DAY_MS).toISOString(),
    enabled: false,
    remaining: "0",
    refill: { interval: "monthly", amount: 10, refillDay: 31 },
    ratelimit: { limit: 10, duration: 60_000 },
    environment: "live",
  });
  const { rows } = await runImport({ from, into: latchkey });
  expect(await latchkey.getKey({ keyId: rows[0]?.keyId ?? "" })).toMatchObject({
    start: "tide_01",
    name: "north pier",
    ownerId: "pier-7",
    meta: { berth: 4 },
    permissions: ["tides.read", "tides.write"],
    createdAt: Date.UTC(2025, 0, 31, 7, 0, 0, 500),
    expires: NOON - DAY_MS,
    enabled: false,
    remaining: 0,
    refill: { interval: "monthly", amount: 10, refillDay: 31 },
    ratelimit: { limit: 10, duration: 60_000 },
    environment: "live",
  });
});

test("the API of all rows may be given by name: it is created once, and then found", async () => {
  const latchkey = openLatchkey();
  const rows = [{ hash: hashOf(secret(1)) }, { apiId: "elsewhere", hash: hashOf(secret(2)) }];
  const first = await runImport({ from: jsonl(...rows), into: latchkey, apiName: "tides" });
  expect(first.report).toMatchObject({ written: 2, created: { apis: ["tides"] } });
  const again = await runImport({
    from: jsonl({ hash: hashOf(secret(3)) }),
    into: latchkey,
    apiName: "tides",
  });
  expect(again.report).toMatchObject({ written: 1, created: { apis: [] } });
  const { apis } = await latchkey.listApis();
  expect(apis).toHaveLength(1);
  await expect(
    runImport({ from: jsonl(...rows), into: latchkey, apiId: "api_none" }),
  ).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("thousands of rows are imported a hundred at a time, each once", async () => {
  const latchkey = openLatchkey(sqliteStore(":memory:"));
  const lines = Array.from(
    { length: 3_000 },
    (_, at) => `${hashOf(secret(at))},pier-${at % 50},tides.read,${at % 1_000 === 999 ? "x" : at}`,
  );
  const text = ["hash,externalId,permissions,remaining", ...lines].join("\n");
  const from = openSource("csv", inPieces(text, 60_000));
  const steps: number[] = [];
  for await (const { rows, written } of importKeys({ from, into: latchkey, apiName: "tides" })) {
    steps.push(rows);
    if (rows === 3_000) expect(written).toBe(2_997);
  }
  expect(steps).toEqual([...Array.from({ length: 29 }, (_, at) => (at + 1) * 100), 3_000]);
  const { apis } = await latchkey.listApis();
  expect((await latchkey.listKeys({ apiId: apis[0]?.id ?? "", limit: 1 })).total).toBe(2_997);
  expect(await latchkey.verifyKey({ key: secret(2_998) })).toMatchObject({ remaining: 2_997 });
  await latchkey.close();
});

test("two concurrent imports create one API of a name, and a server's ensureApi finds it", async () => {
  const into = openLatchkey();
  const [from, other] = [1, 2].map((at) => jsonl({ hash: hashOf(secret(at)) }));
  const runs = [from, other].map((each) =>
    runImport({ from: each as ImportSource, into, apiName: "tides" }),
  );
  const reports = (await Promise.all(runs)).map(({ report }) => report.created.apis);
  expect(reports.flat()).toEqual(["tides"]);
  const { apiId } = await into.ensureApi({ name: "tides" });
  const { apis } = await into.listApis();
  expect(apis.map(({ id }) => id)).toEqual([apiId]);
  for (const at of [1, 2])
    expect(await into.verifyKey({ key: secret(at), apiId })).toMatchObject({ code: "VALID" });
});
