import { createLatchkey } from "@latchkey/core";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { sqliteStore } from "./index.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());
afterEach(() => {
  vi.useRealTimers();
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
