import { createLatchkey, type LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import {
  DAY_MS,
  describeOnEveryStore,
  HOUR_MS,
  issue,
  NOON,
  rejectionOf,
  type TestBed,
  VAULT_KEYS,
} from "../every-store.js";

const YEAR_MS = 365 * DAY_MS;
const vault = { current: "v", keys: { v: VAULT_KEYS[0] } };

/** Everything that would show that something was written. */
async function written({ latchkey, store }: TestBed, apiId: string, keyId: string) {
  const log = await store.listChanges(
    "ws_default",
    { kind: "all" },
    { beforeId: null, limit: 100 },
  );
  return [await latchkey.listKeys({ apiId }), await latchkey.getKey({ keyId }), log.items.length];
}

describeOnEveryStore("rotateKey", (open) => {
  test("answers another key id and a secret that verifies; without a grace the old one is dead at once", async () => {
    const bed = open();
    const { latchkey } = bed;
    const old = await issue(bed);
    expect((await latchkey.verifyKey({ key: old.key })).code).toBe("VALID");
    const next = await latchkey.rotateKey({ keyId: old.keyId });
    expect(Object.keys(next).sort()).toEqual(["key", "keyId"]);
    expect(next.keyId).not.toBe(old.keyId);
    expect((await latchkey.verifyKey({ key: old.key })).code).toBe("EXPIRED");
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({
      code: "VALID",
      keyId: next.keyId,
      apiId: old.apiId,
    });
    expect((await bed.another().verifyKey({ key: old.key })).code).toBe("EXPIRED");
  });

  test("the old key lives until its grace is over, and is dead at that instant", async () => {
    const bed = open();
    const { latchkey } = bed;
    const old = await issue(bed);
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const codes = async () => [
      (await latchkey.verifyKey({ key: old.key })).code,
      (await latchkey.verifyKey({ key: next.key })).code,
    ];
    expect(await codes()).toEqual(["VALID", "VALID"]);
    bed.setClock(NOON + HOUR_MS - 1);
    expect(await codes()).toEqual(["VALID", "VALID"]);
    bed.setClock(NOON + HOUR_MS);
    expect(await codes()).toEqual(["EXPIRED", "VALID"]);
  });

  test.each([
    [HOUR_MS - 1, NOON + HOUR_MS - 1],
    [HOUR_MS, NOON + HOUR_MS],
    [HOUR_MS + 1, NOON + HOUR_MS],
  ])(
    "a grace of %d ms does not outlast the expiry of the old key, which its successor keeps",
    async (graceMs, dies) => {
      const bed = open();
      const old = await issue(bed, { expires: NOON + HOUR_MS });
      const next = await bed.latchkey.rotateKey({ keyId: old.keyId, graceMs });
      expect((await bed.latchkey.getKey({ keyId: old.keyId })).expires).toBe(dies);
      expect((await bed.latchkey.getKey({ keyId: next.keyId })).expires).toBe(NOON + HOUR_MS);
    },
  );

  test("the successor has every setting of the old key, and the chain shows on both", async () => {
    const bed = open({ vault });
    const { latchkey } = bed;
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    await latchkey.createRole({ name: "harbour", permissions: ["tides.write"] });
    const old = await issue(bed, {
      prefix: "tide",
      byteLength: 24,
      name: "north pier",
      externalId: "pier-7",
      meta: { berth: 4 },
      roles: ["harbour"],
      permissions: ["tides.read"],
      expires: NOON + YEAR_MS,
      remaining: 12,
      refill: { interval: "monthly", amount: 50, refillDay: 31 },
      ratelimit: { type: "fast", limit: 10, duration: 60_000 },
      ratelimits: [{ name: "tiles", limit: 3, duration: 1_000, autoApply: true }],
      recoverable: true,
      environment: "live",
    });
    const before = await latchkey.getKey({ keyId: old.keyId });
    bed.advance(5);
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const { start, ...after } = await latchkey.getKey({ keyId: next.keyId, decrypt: true });
    const { id: _id, start: _start, createdAt: _createdAt, ...same } = before;
    expect(after).toEqual({
      ...same,
      id: next.keyId,
      createdAt: NOON + 5,
      rotatedFrom: old.keyId,
      plaintext: next.key,
    });
    expect(next.key.startsWith(start)).toBe(true);
    expect(await latchkey.getKey({ keyId: old.keyId })).toEqual({
      ...before,
      expires: NOON + 5 + HOUR_MS,
      updatedAt: NOON + 5,
      rotatedTo: next.keyId,
    });
  });

  test("the new secret has the prefix and the length of the old one", async () => {
    const bed = open();
    for (const [prefix, byteLength] of [
      ["tide_live", 16],
      ["", 32],
      ["t", 255],
    ] as const) {
      const old = await issue(bed, { prefix, byteLength });
      const { key } = await bed.latchkey.rotateKey({ keyId: old.keyId });
      expect(key).not.toBe(old.key);
      const [body, newBody] = [old.key, key].map((secret) =>
        secret.slice(secret.lastIndexOf("_") + 1),
      );
      expect(key.slice(0, -(newBody?.length ?? 0))).toBe(old.key.slice(0, -(body?.length ?? 0)));
      expect(Math.abs((newBody?.length ?? 0) - (body?.length ?? 0))).toBeLessThanOrEqual(1);
    }
  });

  test("both keys draw from the same uses and windows: a rotation is no way to new ones", async () => {
    const bed = open();
    const { latchkey } = bed;
    const old = await issue(bed, {
      remaining: 4,
      ratelimit: { limit: 3, duration: DAY_MS },
    });
    await latchkey.verifyKey({ key: old.key });
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({
      code: "VALID",
      remaining: 2,
      ratelimit: { remaining: 1 },
    });
    expect(await latchkey.verifyKey({ key: old.key })).toMatchObject({
      code: "VALID",
      remaining: 1,
      ratelimit: { remaining: 0 },
    });
    expect((await latchkey.verifyKey({ key: next.key })).code).toBe("RATE_LIMITED");
    bed.advance(DAY_MS);
    expect(await latchkey.verifyKey({ key: next.key })).toMatchObject({
      code: "VALID",
      remaining: 0,
    });
    expect((await latchkey.verifyKey({ key: next.key })).code).toBe("USAGE_EXCEEDED");
    expect((await latchkey.getKey({ keyId: old.keyId })).remaining).toBe(0);
  });

  test("a chain of rotations shares one counter to its end, also when its first keys are deleted", async () => {
    const bed = open();
    const { latchkey } = bed;
    const first = await issue(bed, { remaining: 10 });
    const second = await latchkey.rotateKey({ keyId: first.keyId, graceMs: HOUR_MS });
    const third = await latchkey.rotateKey({ keyId: second.keyId, graceMs: HOUR_MS });
    for (const { key } of [first, second, third]) await latchkey.verifyKey({ key });
    await latchkey.deleteKey({ keyId: first.keyId, permanent: true });
    await latchkey.deleteKey({ keyId: second.keyId });
    expect(await latchkey.verifyKey({ key: third.key })).toMatchObject({ remaining: 6 });
    await latchkey.updateRemaining({ keyId: third.keyId, op: "increment", value: 1 });
    expect((await latchkey.getKey({ keyId: third.keyId })).remaining).toBe(7);
  });

  test("exactly the uses that are left are admitted over both keys, whatever the number of racers", async () => {
    const bed = open();
    const { latchkey } = bed;
    const old = await issue(bed, { remaining: 25 });
    const next = await latchkey.rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    const other = bed.another();
    const verdicts = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 3 === 0 ? other : latchkey).verifyKey({ key: at % 2 === 0 ? old.key : next.key }),
      ),
    );
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(25);
  });

  test("of any number of racers one gets the successor, and the others a conflict", async () => {
    const bed = open();
    const { apiId, keyId } = await issue(bed);
    const other = bed.another();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? bed.latchkey : other).rotateKey({ keyId, graceMs: HOUR_MS }),
      ),
    );
    const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    }
    const { total, keys } = await bed.latchkey.listKeys({ apiId });
    expect(total).toBe(2);
    expect(keys.map(({ id }) => id)).toEqual([keyId, won[0]?.value.keyId]);
    expect(keys[0]?.rotatedTo).toBe(won[0]?.value.keyId);
  });

  test("among changes of the same key it gets through, and none of them is lost", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { keyId } = await issue(bed, { remaining: 1 });
    const [next] = await Promise.all([
      latchkey.rotateKey({ keyId, graceMs: HOUR_MS }),
      ...Array.from({ length: 10 }, (_, at) =>
        latchkey.updateKey({ keyId, meta: { at }, environment: "live" }),
      ),
      ...Array.from({ length: 10 }, () =>
        latchkey.updateRemaining({ keyId, op: "increment", value: 1 }),
      ),
    ]);
    const old = await latchkey.getKey({ keyId });
    expect(old).toMatchObject({ rotatedTo: next.keyId, remaining: 11, environment: "live" });
    expect((await latchkey.getKey({ keyId: next.keyId })).remaining).toBe(11);
  });

  test("against a deletion of the key either comes first, and nothing is left half done", async () => {
    const bed = open();
    const { latchkey } = bed;
    for (let round = 0; round < 5; round += 1) {
      const { apiId, keyId } = await issue(bed);
      const [rotated, deleted] = await Promise.allSettled([
        latchkey.rotateKey({ keyId, graceMs: HOUR_MS }),
        bed.another().deleteKey({ keyId }),
      ]);
      expect(deleted.status).toBe("fulfilled");
      const { keys, total } = await latchkey.listKeys({ apiId });
      if (rotated.status === "fulfilled") {
        expect(keys.map(({ id }) => id)).toEqual([rotated.value.keyId]);
      } else {
        expect(rotated.reason).toMatchObject({ code: "NOT_FOUND" });
        expect(total).toBe(0);
      }
    }
  });

  test("the grants of both keys are their own from then on", async () => {
    const bed = open();
    const { latchkey } = bed;
    await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    const { keyId } = await issue(bed, { permissions: ["tides.read"] });
    const next = await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    await latchkey.updateKey({ keyId: next.keyId, permissions: ["tides.write"] });
    expect((await latchkey.getKey({ keyId })).permissions).toEqual(["tides.read"]);
    expect((await latchkey.getKey({ keyId: next.keyId })).permissions).toEqual(["tides.write"]);
  });

  test("a key is rotated once: not in its grace, not when it is dead, not when its successor is deleted", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { apiId, keyId } = await issue(bed);
    const next = await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    const before = await written(bed, apiId, keyId);
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({ code: "CONFLICT" });
    bed.advance(HOUR_MS);
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({ code: "CONFLICT" });
    bed.setClock(NOON);
    const elsewhere = bed.another();
    expect(await written({ ...bed, latchkey: elsewhere }, apiId, keyId)).toEqual(before);
    await latchkey.deleteKey({ keyId: next.keyId });
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({ code: "CONFLICT" });
  });

  test("a key is not rotated at its expiry or later, and is 1 ms before", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { apiId, keyId } = await issue(bed, { expires: NOON + 10 });
    bed.setClock(NOON + 10);
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect((await latchkey.listKeys({ apiId })).total).toBe(1);
    const early = await issue(bed, { expires: NOON + 20 });
    bed.setClock(NOON + 19);
    expect((await latchkey.rotateKey({ keyId: early.keyId })).keyId).toMatch(/^key_/);
  });

  test("the successor of a key that is switched off is switched off, and that of one without uses has none", async () => {
    const bed = open();
    const { latchkey } = bed;
    const off = await issue(bed, { enabled: false });
    const stillOff = await latchkey.rotateKey({ keyId: off.keyId });
    expect((await latchkey.verifyKey({ key: stillOff.key })).code).toBe("DISABLED");
    await latchkey.updateKey({ keyId: stillOff.keyId, enabled: true });
    expect((await latchkey.verifyKey({ key: stillOff.key })).code).toBe("VALID");

    const spent = await issue(bed, { remaining: 1 });
    await latchkey.verifyKey({ key: spent.key });
    const stillSpent = await latchkey.rotateKey({ keyId: spent.keyId });
    expect((await latchkey.verifyKey({ key: stillSpent.key })).code).toBe("USAGE_EXCEEDED");
  });

  test("an unknown key, a deleted one and one of another workspace are not found alike", async () => {
    const bed = open();
    const { latchkey } = bed;
    const gone = await issue(bed);
    await latchkey.deleteKey({ keyId: gone.keyId });
    const foreign = await issue({ ...bed, latchkey: latchkey.workspace("ws_other") });
    const messages = new Set<string>();
    for (const keyId of ["key_unknown", gone.keyId, foreign.keyId]) {
      const error = await rejectionOf(latchkey.rotateKey({ keyId }));
      expect(error.code).toBe("NOT_FOUND");
      messages.add(error.message);
    }
    expect(messages.size).toBe(1);
    expect((await latchkey.workspace("ws_other").verifyKey({ key: foreign.key })).code).toBe(
      "VALID",
    );
  });

  test("a recoverable key needs the vault, and without it nothing is written", async () => {
    const bed = open({ vault });
    const { apiId, keyId } = await issue(bed, { recoverable: true });
    const before = await written(bed, apiId, keyId);
    const without = createLatchkey({ store: bed.store, clock: bed.now });
    const error = await rejectionOf(without.rotateKey({ keyId }));
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await written(bed, apiId, keyId)).toEqual(before);
  });

  test("whoever asks may forbid that a recoverable key is made, and is not asked for any other", async () => {
    const bed = open({ vault });
    const { latchkey } = bed;
    const asked: string[] = [];
    const beforeSealing = (apiId: string) => {
      asked.push(apiId);
      throw new RangeError("not you");
    };
    const plain = await issue(bed);
    await latchkey.rotateKey({ keyId: plain.keyId }, { beforeSealing });
    expect(asked).toEqual([]);
    const sealed = await issue(bed, { recoverable: true });
    await expect(latchkey.rotateKey({ keyId: sealed.keyId }, { beforeSealing })).rejects.toThrow(
      RangeError,
    );
    expect(asked).toEqual([sealed.apiId]);
    expect((await latchkey.getKey({ keyId: sealed.keyId })).rotatedTo).toBeUndefined();
  });

  test.each([
    ["graceMs", { graceMs: -1 }],
    ["graceMs", { graceMs: 0.5 }],
    ["graceMs", { graceMs: YEAR_MS + 1 }],
    ["graceMs", { graceMs: "1" }],
    ["graceMs", { graceMs: null }],
    ["prefix", { prefix: "x" }],
    ["keyId", { keyId: "" }],
  ])("a bad %s is refused by name: %j", async (path, fields) => {
    const bed = open();
    const { keyId } = await issue(bed);
    const error = await rejectionOf(bed.latchkey.rotateKey({ keyId, ...fields } as never));
    expect(error.issues).toMatchObject([{ path }]);
  });

  test("a grace of a year is the longest", async () => {
    const bed = open();
    const { keyId } = await issue(bed);
    await bed.latchkey.rotateKey({ keyId, graceMs: YEAR_MS });
    expect((await bed.latchkey.getKey({ keyId })).expires).toBe(NOON + YEAR_MS);
  });

  test("the expiry of a rotated key can be put forward, and never off", async () => {
    const bed = open();
    const { latchkey } = bed;
    const { keyId, key } = await issue(bed);
    await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    for (const expires of [null, NOON + HOUR_MS + 1]) {
      expect(await rejectionOf(latchkey.updateKey({ keyId, expires }))).toMatchObject({
        code: "PRECONDITION_FAILED",
      });
    }
    await latchkey.updateKey({ keyId, expires: NOON + HOUR_MS });
    await latchkey.updateKey({ keyId, expires: NOON + 2, name: "the old one" });
    expect((await latchkey.getKey({ keyId })).expires).toBe(NOON + 2);
    bed.setClock(NOON + 2);
    expect(await rejectionOf(latchkey.updateKey({ keyId, enabled: true }))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect((await latchkey.verifyKey({ key })).code).toBe("EXPIRED");
  });

  test("says what became of both keys to the log and to listeners, and tells no secret", async () => {
    const events: LatchkeyEvent[] = [];
    const bed = open({ vault, onEvent: (event) => events.push(event) });
    const { latchkey, store } = bed;
    const old = await issue(bed, {
      externalId: "pier-7",
      expires: NOON + DAY_MS,
      recoverable: true,
    });
    const { identity } = await latchkey.getKey({ keyId: old.keyId });
    events.length = 0;
    const next = await latchkey.actingAs("ops").rotateKey({ keyId: old.keyId, graceMs: HOUR_MS });
    expect(events).toMatchObject([
      {
        type: "key.rotated",
        actor: "ops",
        at: NOON,
        resourceId: old.keyId,
        keyId: old.keyId,
        identityId: identity?.id,
        changes: [
          { field: "rotatedTo", after: next.keyId },
          { field: "expires", before: NOON + DAY_MS, after: NOON + HOUR_MS },
        ],
      },
      { type: "key.created", resourceId: next.keyId, keyId: next.keyId, identityId: identity?.id },
    ]);
    const { items } = await store.listChanges(
      "ws_default",
      { kind: "actor", actor: "ops" },
      { beforeId: null, limit: 10 },
    );
    expect(items.map(({ type }) => type)).toEqual(["key.created", "key.rotated"]);
    const told = JSON.stringify([events, items]);
    for (const secret of [old.key, next.key]) expect(told).not.toContain(secret);
  });
});
