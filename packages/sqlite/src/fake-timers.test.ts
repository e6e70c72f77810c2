import { mock } from "node:test";
import { createLatchkey } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { sqliteStore } from "./index.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());
afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
});

test("everything works while a test has replaced the timers, and time stands still", async () => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
  const latchkey = createLatchkey({ store: sqliteStore(scratch.newPath()) });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const expires = Date.now() + 1_000;
  const { key } = await latchkey.createKey({ apiId, remaining: 3, externalId: "user_1", expires });
  const codes = await Promise.all([1, 2].map(() => latchkey.verifyKey({ key })));
  expect(codes.map(({ code }) => code)).toEqual(["VALID", "VALID"]);
  const reserved = await latchkey.reserve({ key });
  if (!reserved.valid) throw new Error(reserved.code);
  await latchkey.settle({ reservationId: reserved.reservationId });
  vi.setSystemTime(expires);
  expect((await latchkey.verifyKey({ key })).code).toBe("EXPIRED");
  expect(await latchkey.disableKeys({ apiId })).toEqual({ disabledKeys: 1 });
  expect(await latchkey.deleteKeys({ externalId: "user_1" })).toEqual({ deletedKeys: 1 });
  expect((await latchkey.listKeys({ apiId })).total).toBe(0);
  await latchkey.close();
});

const FAKES: Record<string, () => void> = {
  Vitest: () => void vi.useFakeTimers(),
  "node:test": () => mock.timers.enable(),
};

test.each(Object.entries(FAKES))(
  "many verifications end while %s has replaced the timers, and after that",
  async (_runner, fake) => {
    const latchkey = createLatchkey({ store: sqliteStore(scratch.newPath()) });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key } = await latchkey.createKey({ apiId, remaining: 1_000 });
    const verifyMany = () =>
      Promise.all(Array.from({ length: 300 }, () => latchkey.verifyKey({ key })));
    fake();
    const codes = (await verifyMany()).map(({ code }) => code);
    vi.useRealTimers();
    mock.timers.reset();
    codes.push(...(await verifyMany()).map(({ code }) => code));
    expect(codes).toEqual(Array.from({ length: 600 }, () => "VALID"));
    await latchkey.close();
  },
);

test.each(Object.entries(FAKES))(
  "a call waits for the lock of another connection, and no longer than its deadline, while %s has replaced the timers",
  async (_runner, fake) => {
    const path = scratch.newPath();
    const latchkey = createLatchkey({ store: sqliteStore(path, { deadlineMs: 200 }) });
    await latchkey.createApi({ name: "maps" });
    const other = new Database(path);
    fake();
    other.exec("BEGIN IMMEDIATE");
    await expect(latchkey.createApi({ name: "tides" })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      outcome: "not-applied",
    });
    const waiting = latchkey.createApi({ name: "tides" });
    other.exec("ROLLBACK");
    expect((await waiting).apiId).toMatch(/^api_/);
    other.close();
    await latchkey.close();
  },
);
