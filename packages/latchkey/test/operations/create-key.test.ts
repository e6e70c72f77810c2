import { expect, test } from "vitest";
import { DAY_MS, describeOnMemory, NOON, rejectionOf, VAULT_KEYS } from "../test-context.js";

/** The message for a number that is too large. */
const FROM_1 = "must be a whole number from 1 to 9007199254740991";

describeOnMemory("createKey", (open) => {
  test("returns an id and a secret that verifies, and nothing else", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const created = await latchkey.createKey({ apiId, prefix: "tide_live" });
    expect(Object.keys(created).sort()).toEqual(["key", "keyId"]);
    expect(created.key).toMatch(/^tide_live_[1-9A-HJ-NP-Za-km-z]+$/);
    expect(await latchkey.verifyKey({ key: created.key })).toMatchObject({
      valid: true,
      keyId: created.keyId,
      apiId,
    });
  });

  test("stores every given field", async () => {
    const { latchkey } = open({ vault: { current: "v", keys: { v: VAULT_KEYS[0] } } });
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    await latchkey.createRole({ name: "harbour", permissions: ["tides.write"] });
    const { keyId, key } = await latchkey.createKey({
      apiId,
      prefix: "tide",
      name: "north pier",
      byteLength: 24,
      externalId: "pier-7",
      meta: { berth: 4, tags: ["a", "b"] },
      roles: ["harbour"],
      permissions: ["tides.read"],
      expires: NOON + DAY_MS,
      remaining: 12,
      refill: { interval: "monthly", amount: 50, refillDay: 31 },
      ratelimit: { type: "fast", limit: 10, duration: 60_000 },
      enabled: true,
      recoverable: true,
      environment: "live",
    });
    const { identity, start, ...listed } = await latchkey.getKey({ keyId, decrypt: true });
    expect(listed).toEqual({
      id: keyId,
      apiId,
      workspaceId: "ws_default",
      name: "north pier",
      ownerId: "pier-7",
      meta: { berth: 4, tags: ["a", "b"] },
      createdAt: NOON,
      expires: NOON + DAY_MS,
      remaining: 12,
      refill: { interval: "monthly", amount: 50, refillDay: 31 },
      ratelimit: { type: "fast", async: true, limit: 10, duration: 60_000 },
      ratelimits: [
        {
          name: "default",
          type: "fast",
          async: true,
          autoApply: true,
          limit: 10,
          duration: 60_000,
        },
      ],
      roles: ["harbour"],
      permissions: ["tides.read", "tides.write"],
      enabled: true,
      environment: "live",
      plaintext: key,
    });
    expect(identity).toEqual({ id: expect.stringMatching(/^id_/), externalId: "pier-7", meta: {} });
    expect(key.startsWith(start)).toBe(true);
  });

  test("makes the identity of a new externalId once, whatever the number of racers", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await Promise.all(
      Array.from({ length: 50 }, () => latchkey.createKey({ apiId, externalId: "pier-7" })),
    );
    expect((await latchkey.listIdentities()).total).toBe(1);
    expect((await latchkey.listKeys({ apiId, externalId: "pier-7" })).keys).toHaveLength(50);
  });

  test("prefers externalId over ownerId", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId, ownerId: "old", externalId: "new" });
    expect((await latchkey.getKey({ keyId })).identity?.externalId).toBe("new");
  });

  test("names every missing role and permission and writes nothing", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createRole({ name: "harbour" });
    const error = await rejectionOf(
      latchkey.createKey({
        apiId,
        externalId: "pier-7",
        roles: ["harbour", "pilot", "diver"],
        permissions: ["tides.read"],
      }),
    );
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(error.message).toContain("pilot, diver");
    expect(error.message).toContain("tides.read");
    expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
    expect((await latchkey.listIdentities()).total).toBe(0);
  });

  test("counts a repeated name once", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createPermission({ name: "tides.read" });
    const { keyId } = await latchkey.createKey({
      apiId,
      permissions: ["tides.read", "tides.read"],
    });
    expect((await latchkey.getKey({ keyId })).permissions).toEqual(["tides.read"]);
  });

  test("refuses an unknown API and one of another workspace in the same way", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.workspace("ws_other").createApi({ name: "tide tables" });
    const unknown = await rejectionOf(latchkey.createKey({ apiId: "api_unknown" }));
    const foreign = await rejectionOf(latchkey.createKey({ apiId }));
    expect(unknown).toMatchObject({ code: "NOT_FOUND" });
    expect(foreign.message).toBe(unknown.message);
  });

  test("needs a vault for a recoverable key", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    expect(await rejectionOf(latchkey.createKey({ apiId, recoverable: true }))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect((await latchkey.listKeys({ apiId })).total).toBe(0);
  });

  test("reports every bad field at once, each with its bound", async () => {
    const { latchkey } = open();
    const error = await rejectionOf(
      latchkey.createKey({
        apiId: "",
        prefix: "seventeen-letters",
        byteLength: 15,
        expires: NOON,
        refill: { interval: "daily", amount: 0, refillDay: 3 },
        ratelimit: { limit: 1.5, duration: 0 },
        remaning: 5,
      } as never),
    );
    expect(error.code).toBe("BAD_REQUEST");
    expect(error.issues).toEqual(
      expect.arrayContaining([
        { path: "apiId", message: "must be a string of 1 to 128 characters" },
        { path: "prefix", message: expect.stringContaining("at most 16 characters") },
        { path: "byteLength", message: "must be a whole number from 16 to 255" },
        { path: "expires", message: "must be later than now" },
        { path: "refill.amount", message: "must be a whole number >= 1" },
        { path: "ratelimit.limit", message: "must be a whole number >= 1" },
        {
          path: "ratelimit.duration",
          message: expect.stringContaining(
            "must be a whole number of ms from 1 to 2^52, or the same in",
          ),
        },
        { path: "remaning", message: "is not a known field" },
      ]),
    );
  });

  test("names the expected type of a field", async () => {
    const { latchkey } = open();
    const error = await rejectionOf(
      latchkey.createKey({
        apiId: 7,
        roles: "x",
        permissions: {},
        refill: "x",
        ratelimit: 1,
      } as never),
    );
    expect(error.issues).toEqual([
      { path: "apiId", message: "must be a string of 1 to 128 characters" },
      { path: "roles", message: "must be a list of at most 100 names" },
      { path: "permissions", message: "must be a list of at most 1000 names" },
      { path: "refill", message: "must be an object: { interval, amount }" },
      { path: "ratelimit", message: "must be an object: { limit, duration }" },
      { path: "refill", message: "needs remaining" },
    ]);
  });

  test("refuses a refill without remaining, together with other issues", async () => {
    const { latchkey } = open();
    const error = await rejectionOf(
      latchkey.createKey({ apiId: "", refill: { interval: "daily", amount: 1 } }),
    );
    expect(error.issues).toEqual([
      { path: "apiId", message: "must be a string of 1 to 128 characters" },
      { path: "refill", message: "needs remaining" },
    ]);
  });

  test.each<readonly [string, unknown, string?]>([
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY, FROM_1],
    ["a fraction", 1.5],
    ["a text", "5"],
    ["2^53", 2 ** 53, FROM_1],
    ["zero", 0],
    ["a negative number", -1],
    ["null", null],
  ])("refuses %s as remaining", async (_, remaining, message = "must be a whole number >= 1") => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const error = await rejectionOf(latchkey.createKey({ apiId, remaining: remaining as never }));
    expect(error.issues).toEqual([{ path: "remaining", message }]);
  });

  test("is not affected by later changes of the metadata object", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const meta = { berth: { number: 4 } };
    const pending = latchkey.createKey({ apiId, meta });
    meta.berth.number = 5;
    const { keyId } = await pending;
    meta.berth.number = 6;
    expect((await latchkey.getKey({ keyId })).meta).toEqual({ berth: { number: 4 } });
  });
});
