import { mock } from "node:test";
import { createLatchkey, LatchkeyError, type LatchkeyEvent } from "@latchkey/core";
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { createTestLatchkey, type TestLatchkeyOptions } from "./create.js";

const SEED = {
  apis: { tiles: {}, maps: { name: "Map tiles" } },
  identities: { harbour: { meta: { plan: "gold" } } },
  roles: { reader: ["tiles.read"] },
  keys: {
    daily: { api: "tiles", remaining: 1, refill: { interval: "daily", amount: 1 } },
    staff: { api: "maps", identity: "harbour", roles: ["reader"], permissions: ["tiles.write"] },
  },
} as const;

/** A seeded test latchkey. */
async function seeded(options?: TestLatchkeyOptions) {
  const context = createTestLatchkey(options);
  return { ...context, ...(await context.seed(SEED)) };
}

describe("time", () => {
  test("stands still at the same date in every run, and can be moved past a refill", async () => {
    const { latchkey, clock, keys } = await seeded();
    const { key } = keys.daily;
    expect(latchkey.now()).toBe(Date.UTC(2025, 0, 1));
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
    expect((await latchkey.verifyKey({ key })).code).toBe("USAGE_EXCEEDED");
    clock.advance({ days: 1 });
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  });

  test("can follow Vitest's fake timers", async () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 5, 1) });
    onTestFinished(() => void vi.useRealTimers());
    const { latchkey, clock, keys } = await seeded({ now: () => Date.now() });
    const { key } = keys.daily;
    await latchkey.verifyKey({ key });
    expect((await latchkey.verifyKey({ key })).code).toBe("USAGE_EXCEEDED");
    vi.advanceTimersByTime(86_400_000);
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
    clock.advance({ days: 1 });
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  });

  test("that stands still blocks nothing: counts of two workspaces are written in two steps", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { latchkey, keys } = await seeded();
    const elsewhere = latchkey.workspace("ws_north");
    const { apiId } = await elsewhere.createApi({ name: "buoys" });
    const { key, keyId } = await elsewhere.createKey({ apiId });
    await latchkey.verifyKey({ key: keys.daily.key });
    await elsewhere.verifyKey({ key });
    const { verifications } = await elsewhere.getVerifications({ keyId });
    expect(verifications.at(-1)).toMatchObject({ success: 1 });
  });

  test("can follow the fake timers of node:test", async () => {
    mock.timers.enable({ apis: ["Date", "setTimeout"], now: Date.UTC(2030, 5, 1) });
    onTestFinished(() => mock.timers.reset());
    const { latchkey, keys } = await seeded({ now: () => Date.now() });
    const { key } = keys.daily;
    await latchkey.verifyKey({ key });
    expect((await latchkey.verifyKey({ key })).code).toBe("USAGE_EXCEEDED");
    mock.timers.tick(86_400_000);
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  });
});

describe("a seed", () => {
  test("is in the store, and returns ids and secrets by the names in the seed", async () => {
    const { latchkey, apis, identities, keys } = await seeded();
    expect(await latchkey.getApi(apis.maps)).toMatchObject({ name: "Map tiles" });
    expect(await latchkey.getApi(apis.tiles)).toMatchObject({ name: "tiles" });
    expect(await latchkey.getIdentity(identities.harbour)).toMatchObject({
      externalId: "harbour",
      meta: { plan: "gold" },
    });
    const may = (permissions: string) =>
      latchkey.verifyKey({ key: keys.staff.key, authorization: { permissions } });
    expect(await may("tiles.read")).toMatchObject({
      valid: true,
      keyId: keys.staff.keyId,
      apiId: apis.maps.apiId,
      identity: { externalId: "harbour" },
    });
    expect(await may("tiles.write")).toMatchObject({ valid: true });
  });

  test("has only the seeded names in its types", async () => {
    const { apis, identities, keys } = await seeded();
    expectTypeOf(apis).toEqualTypeOf<
      Readonly<Record<"tiles" | "maps", { readonly apiId: string }>>
    >();
    expectTypeOf(identities).toHaveProperty("harbour");
    expectTypeOf(keys).not.toHaveProperty("nobody");
    expect([Object.keys(apis), Object.keys(identities), Object.keys(keys)]).toEqual([
      ["tiles", "maps"],
      ["harbour"],
      ["daily", "staff"],
    ]);
  });

  test("creates the same ids and secrets in every run", async () => {
    const [one, other] = [await seeded(), await seeded()];
    expect([one.apis, one.identities, one.keys]).toEqual([
      other.apis,
      other.identities,
      other.keys,
    ]);
  });

  test("may be called again, even with existing permissions", async () => {
    const { seed, latchkey } = await seeded();
    const { keys } = await seed({
      apis: { more: {} },
      keys: { another: { api: "more", permissions: ["tiles.read"] } },
    });
    expect(await latchkey.verifyKey({ key: keys.another.key })).toMatchObject({ valid: true });
  });

  test("refuses unknown names", async () => {
    const { seed } = createTestLatchkey();
    // @ts-expect-error No API is called "map".
    const misspelt = seed({ apis: { maps: {} }, keys: { reader: { api: "map" } } });
    await expect(misspelt).rejects.toThrow(
      '"keys.reader.api" must be a name in the same seed: maps',
    );
    const key = { api: "maps", identity: "harbor" } as const;
    // @ts-expect-error No identity is called "harbor".
    const nobody = seed({ apis: { maps: {} }, identities: { harbour: {} }, keys: { key } });
    await expect(nobody).rejects.toThrow('"keys.key.identity" must be a name in the same seed');
  });
});

describe("a seed that is wrong", () => {
  test.each<[unknown, string]>([
    [undefined, '"seed" must be an object'],
    [{ apis: {}, keyz: {} }, '"keyz" is not a part of a seed: apis, identities, roles, keys'],
    [{ keys: {} }, '"apis" must be an object'],
    [{ apis: ["maps"] }, '"apis" must be an object'],
    [{ apis: { maps: "Maps" } }, '"apis.maps" must be an object'],
    [{ apis: {}, roles: { reader: "tiles.read" } }, '"roles.reader" must be a list of names'],
    [
      { apis: { maps: {} }, keys: { k: { api: "maps", permissions: "tiles.read" } } },
      '"keys.k.permissions" must be a list of names',
    ],
    [{ apis: {}, keys: { k: {} } }, '"keys.k.api" must be a name in the same seed: there is none'],
    [{ apis: {}, keys: { k: { apiId: "api_1" } } }, '"keys.k.apiId" is given by "api"'],
    [
      { apis: {}, identities: { harbour: { externalId: "h" } } },
      '"identities.harbour.externalId" is given by its name in the seed',
    ],
  ])("in its form writes nothing: %j", async (seed, message) => {
    const context = createTestLatchkey();
    await expect(context.seed(seed as never)).rejects.toThrow(new TypeError(message));
    expect(await context.latchkey.listApis()).toMatchObject({ total: 0 });
  });

  test.each<[object, string]>([
    [
      { keys: { k: { api: "maps", remaning: 1 } } },
      `the seed's keys.k: "remaning" is not a known field; the store is closed`,
    ],
    [{ keys: { k: { api: "maps", roles: ["reader"] } } }, "the seed's keys.k: "],
    [{ roles: { reader: ["tiles read"] } }, "the seed's roles.reader: "],
    [{ identities: { harbour: { meta: 1 } } }, "the seed's identities.harbour: "],
  ])("for an operation names the part, and leaves nothing: %j", async (parts, message) => {
    const { seed, latchkey } = createTestLatchkey();
    const half = seed({ apis: { maps: {} }, ...parts });
    await expect(half).rejects.toThrow(message);
    await expect(half).rejects.toBeInstanceOf(LatchkeyError);
    await expect(latchkey.listApis()).rejects.toThrow("the store is closed");
  });
});

describe("the recorder", () => {
  test("has all events except those of the seed, in order and by type", async () => {
    const { latchkey, recorder, keys } = await seeded();
    await latchkey.verifyKey({ key: keys.daily.key });
    await latchkey.deleteKey({ keyId: keys.staff.keyId });
    expect(recorder.events.map(({ type }) => type)).toEqual([
      "key.verified",
      "key.exhausted",
      "key.deleted",
    ]);
    expect(recorder.of("key.exhausted")).toEqual([recorder.events[1]]);
    const [deleted] = recorder.of("key.deleted");
    expect(deleted?.resourceId).toBe(keys.staff.keyId);
    recorder.clear();
    expect(recorder.events).toEqual([]);
  });

  test("has failures that no caller waits for", async () => {
    const { latchkey, recorder, failStore, keys } = await seeded();
    await latchkey.verifyKey({ key: keys.daily.key });
    failStore({ method: "addStatistics" });
    await latchkey.getVerifications({ keyId: keys.daily.keyId });
    expect(recorder.errors).toMatchObject([{ code: "STORE_UNAVAILABLE" }]);
    expect(recorder.of("store.failed")).toMatchObject([{ method: "addStatistics" }]);
    recorder.clear();
    expect(recorder.errors).toEqual([]);
  });

  test("calls the test's own listeners, too", async () => {
    const events: LatchkeyEvent[] = [];
    const errors: unknown[] = [];
    const broken = new Error("the listener is broken");
    const { latchkey, recorder } = await seeded({
      onEvent: (event) => {
        events.push(event);
        throw broken;
      },
      onError: (error) => errors.push(error),
    });
    await latchkey.createApi({ name: "buoys" });
    expect(events).toEqual(recorder.events);
    expect(errors).toEqual([broken]);
    expect(recorder.errors).toEqual([broken]);
  });
});

test("another latchkey on the store acts as another process of the application", async () => {
  const { latchkey, store, clock, keys } = await seeded();
  const { key, keyId } = keys.daily;
  const elsewhere = createLatchkey({ store, clock: clock.now });
  await elsewhere.updateKey({ keyId, enabled: false });
  expect((await latchkey.verifyKey({ key })).code).toBe("DISABLED");
});

test.each([
  ["store", {}],
  ["clock", Date.now],
  ["onEvent", "log"],
  ["onError", "log"],
  ["permission", []],
  ["seed", { apis: {} }],
])("the option %s is refused if it is unknown or of the wrong type", (name, value) => {
  expect(() => createTestLatchkey({ [name]: value })).toThrow(`"${name}"`);
});

test("an unknown option is refused with a list of the known ones", () => {
  expect(() => createTestLatchkey({ permission: [] } as never)).toThrow(
    '"permission" is not an option of createTestLatchkey: now, workspaceId, ',
  );
});

test("names can be typed, as with createLatchkey", () => {
  const { latchkey } = createTestLatchkey({ permissions: ["tiles.read"] });
  expect(() => latchkey.verifier({ permissions: "tiles.read" })).not.toThrow();
  // @ts-expect-error: the permission is misspelt
  expect(() => latchkey.verifier({ permissions: "tiles.raed" })).not.toThrow();
});
