import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeWithServers, startServer } from "@latchkey/postgres/testing";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openSource } from "../open-source.js";
import { issueWithBetterAuth } from "../testing/better-auth-keys.js";
import { DAY_MS, hashOf, issuesOf, NOON, openLatchkey, runImport } from "../testing/imports.js";
import { betterAuthRow } from "./better-auth.js";

type Issued = Awaited<ReturnType<typeof issueWithBetterAuth>>;

/** Imports the keys that better-auth issued, and verifies each. */
async function expectAllImported(url: string, { secrets, userId }: Issued) {
  const latchkey = openLatchkey(undefined, { clock: Date.now });
  const first = await runImport({ from: openSource("better-auth", url), into: latchkey });
  expect(issuesOf(first.rows)).toEqual([]);
  expect(first.report).toMatchObject({ rows: 6, written: 6 });
  const { apis, permissions } = first.report.created;
  expect([apis.toSorted(), permissions.toSorted()]).toEqual([
    ["default", "internal"],
    ["files.read", "tides.read", "tides.write"],
  ]);
  expect(first.report.notes).toEqual([
    {
      field: "refill",
      message:
        "every 3600000 ms is counted from the creation of the key, and no longer from the last refill",
      rows: 1,
      firstRow: expect.any(Number),
      firstId: expect.any(String),
    },
  ]);
  const ask = (key: string, more = {}) => latchkey.verifyKey({ key, ...more });
  const shown = async (key: string) =>
    latchkey.getKey({ keyId: (await latchkey.whoami({ key })).id });
  expect(await ask(secrets.plain)).toMatchObject({
    code: "VALID",
    ownerId: userId,
    ratelimit: { limit: 10 },
  });
  expect(
    await ask(secrets.full, {
      authorization: { permissions: { and: ["tides.write", "files.read"] } },
    }),
  ).toMatchObject({
    code: "VALID",
    name: "north pier",
    meta: { berth: 4, tags: ["a"] },
    remaining: 6,
    ratelimit: { limit: 5, remaining: 4 },
  });
  expect(await ask(secrets.disabled)).toMatchObject({ code: "DISABLED" });
  for (const name of ["daily", "hourly", "other"] as const)
    expect(await ask(secrets[name])).toMatchObject({ code: "VALID" });
  const full = await shown(secrets.full);
  expect(full.start).toBe(secrets.full.slice(0, 6));
  expect(Math.abs((full.expires as number) - full.createdAt - 30 * DAY_MS)).toBeLessThan(5_000);
  const hourly = await shown(secrets.hourly);
  expect(hourly.refill).toMatchObject({ interval: { every: 3_600_000 }, amount: 10 });
  const daily = await shown(secrets.daily);
  expect(daily).toMatchObject({ remaining: 2, refill: { interval: "daily", amount: 10 } });
  expect(daily.ratelimit).toBeUndefined();
  const other = await shown(secrets.other);
  expect(other.start).toBe("int_");
  const again = await runImport({ from: openSource("better-auth", url), into: latchkey });
  expect(again.report).toMatchObject({ written: 0, alreadyThere: 6 });
}

describe("a SQLite database that better-auth wrote", () => {
  test("every key keeps working, with its settings", async () => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-import-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "auth.db");
    const database = new Sqlite(path);
    const issued = await issueWithBetterAuth(database);
    database.close();
    await expectAllImported(`sqlite:${path}`, issued);
    const missing = openSource("better-auth", path, { table: "no.such" });
    await expect(runImport({ from: missing, into: openLatchkey() })).rejects.toThrow();
  });
});

describeWithServers("a PostgreSQL database that better-auth wrote", () => {
  test("every key keeps working, with its settings", async () => {
    const server = await startServer({ fsync: "off" });
    onTestFinished(() => server.remove());
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on("error", () => undefined);
    const issued = await issueWithBetterAuth(pool);
    await pool.end();
    await expectAllImported(server.url, issued);
  });
});

describe("a row of better-auth", () => {
  const row = {
    id: "1",
    key: hashOf("tide_1", "base64url"),
    referenceId: "pier-7",
    createdAt: NOON,
  };
  const read = (columns: object) => betterAuthRow(1, { ...row, ...columns }, NOON);

  test.each([
    ["text", "2026-03-09T12:00:00.000Z", NOON - DAY_MS],
    ["a date", new Date(NOON - DAY_MS), NOON - DAY_MS],
    ["ms", NOON - DAY_MS, NOON - DAY_MS],
    ["seconds", (NOON - DAY_MS) / 1_000, NOON - DAY_MS],
    ["text that is none", "soon", "soon"],
  ])("has an instant as %s", (_form, createdAt, expected) => {
    expect(read({ createdAt }).key.createdAt).toBe(expected);
  });

  test("may have columns in snake case, the owner column of old versions, and JSON within JSON", () => {
    const { key } = betterAuthRow(
      1,
      {
        key: row.key,
        user_id: "pier-8",
        metadata: JSON.stringify(JSON.stringify({ berth: 4 })),
        rate_limit_enabled: 1,
        rate_limit_max: "10",
        rate_limit_time_window: 1_000n,
      },
      NOON,
    );
    expect(key).toMatchObject({
      externalId: "pier-8",
      meta: { berth: 4 },
      ratelimit: { limit: 10, duration: 1_000 },
    });
  });

  test("ids may be numbers, and a start that is too long is cut, with a note", () => {
    const { key, id, notes } = read({ id: 7, referenceId: 42, start: "t".repeat(40) });
    expect([id, key.externalId, key.start]).toEqual(["7", "42", "t".repeat(32)]);
    expect(notes).toEqual([{ field: "start", message: "was cut to 32 characters" }]);
  });

  test("a refill that is already due is given", () => {
    const uses = { remaining: 0, refillAmount: 9, refillInterval: DAY_MS };
    const at = (ms: number) => read({ ...uses, lastRefillAt: NOON - ms }).key.remaining;
    expect([at(DAY_MS), at(DAY_MS + 1)]).toEqual([0, 9]);
    expect(read({ ...uses, remaining: null }).key).not.toHaveProperty("refill");
  });

  test("a refill every 28 to 31 days becomes monthly on the day of the last one, with a note", () => {
    const every = (days: number) =>
      read({ remaining: 1, refillAmount: 9, refillInterval: days * DAY_MS });
    for (const days of [28, 30, 31]) {
      expect(every(days).key.refill).toEqual({ interval: "monthly", amount: 9, refillDay: 10 });
      expect(every(days).notes[0]?.message).toContain(`every ${days} days became monthly`);
    }
    for (const days of [27, 32])
      expect(every(days).key.refill).toEqual({ interval: { every: days * DAY_MS }, amount: 9 });
  });

  test("a refill of another interval is counted from the creation of the key, and one of less than a minute is left out", () => {
    const every = (ms: number) => read({ remaining: 1, refillAmount: 9, refillInterval: ms });
    expect(every(60_000).key.refill).toEqual({ interval: { every: 60_000 }, amount: 9 });
    expect(every(60_000).notes[0]?.message).toContain("counted from the creation of the key");
    for (const ms of [59_999, 60_000.5, 2 ** 53]) {
      expect(every(ms).key).not.toHaveProperty("refill");
      expect(every(ms).notes[0]?.message).toBe(
        `every ${ms} ms is left out: refills are a minute or more apart here`,
      );
    }
  });

  test("is skipped without a valid hash: a plaintext secret must not be taken for a hash, nor a hash for a secret", () => {
    for (const key of [hashOf("tide_1"), "tide_plain", null])
      expect(read({ key }).issues.map(({ field }) => field)).toContain("hash");
    expect(read({ metadata: "{", permissions: '{"a":"b"}' }).issues).toEqual([
      { field: "meta", message: "must be a JSON object" },
      { field: "permissions", message: "must be an object of lists of actions" },
    ]);
  });
});

test("a SQLite driver for a later Node.js is not loaded, because its binary could crash the process", async () => {
  const versions = vi.spyOn(process, "versions", "get");
  versions.mockReturnValue({ ...process.versions, node: "4.9.1" });
  onTestFinished(() => versions.mockRestore());
  const { rows } = openSource("better-auth", "sqlite:./nothing.db");
  await expect(rows[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "PRECONDITION_FAILED",
    reason: "driver-missing",
    message: expect.stringMatching(/and this is 4\.9\.1: run `npm install better-sqlite3@12`/),
  });
});
