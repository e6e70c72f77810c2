import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import {
  DAY_MS,
  describeOnMemory,
  HOUR_MS,
  issue,
  NOON,
  rejectionOf,
  type TestContext,
  VAULT_KEYS,
} from "../test-context.js";

const YEAR_MS = 365 * DAY_MS;
const vault = { current: "v", keys: { v: VAULT_KEYS[0] } };

/** Everything that changes if something is written. */
async function written({ latchkey }: TestContext, apiId: string, keyId: string) {
  const log = await latchkey.listAuditEvents();
  return [await latchkey.listKeys({ apiId }), await latchkey.getKey({ keyId }), log.events.length];
}

describeOnMemory("rotateKey, refused or raced", (open) => {
  test("of several racing calls one gets the successor, and the others a conflict", async () => {
    const context = open();
    const { apiId, keyId } = await issue(context);
    const other = context.another();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? context.latchkey : other).rotateKey({ keyId, graceMs: HOUR_MS }),
      ),
    );
    const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    }
    const { total, keys } = await context.latchkey.listKeys({ apiId });
    expect(total).toBe(2);
    expect(keys.map(({ id }) => id)).toEqual([keyId, won[0]?.value.keyId]);
    expect(keys[0]?.rotatedTo).toBe(won[0]?.value.keyId);
  });

  test("succeeds during changes of the same key, and none of them is lost", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await issue(context, { remaining: 1 });
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

  test("and a concurrent deletion take effect in either order, and nothing stays half done", async () => {
    const context = open();
    const { latchkey } = context;
    for (let round = 0; round < 5; round += 1) {
      const { apiId, keyId } = await issue(context);
      const [rotated, deleted] = await Promise.allSettled([
        latchkey.rotateKey({ keyId, graceMs: HOUR_MS }),
        context.another().deleteKey({ keyId }),
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

  test("a key can be rotated only once: not in its grace, not after it, and not after its successor is deleted", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context);
    const next = await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    const before = await written(context, apiId, keyId);
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({ code: "CONFLICT" });
    context.advance(HOUR_MS);
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({ code: "CONFLICT" });
    context.setClock(NOON);
    const elsewhere = context.another();
    expect(await written({ ...context, latchkey: elsewhere }, apiId, keyId)).toEqual(before);
    await latchkey.deleteKey({ keyId: next.keyId });
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({ code: "CONFLICT" });
  });

  test("a key can be rotated until 1 ms before its expiry, but not at it or later", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context, { expires: NOON + 10 });
    context.setClock(NOON + 10);
    expect(await rejectionOf(latchkey.rotateKey({ keyId }))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect((await latchkey.listKeys({ apiId })).total).toBe(1);
    const early = await issue(context, { expires: NOON + 20 });
    context.setClock(NOON + 19);
    expect((await latchkey.rotateKey({ keyId: early.keyId })).keyId).toMatch(/^key_/);
  });

  test("an unknown key, a deleted one and one of another workspace are not found in the same way", async () => {
    const context = open();
    const { latchkey } = context;
    const gone = await issue(context);
    await latchkey.deleteKey({ keyId: gone.keyId });
    const foreign = await issue({ ...context, latchkey: latchkey.workspace("ws_other") });
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

  test("a recoverable key needs the vault; without it, nothing is written", async () => {
    const context = open({ vault });
    const { apiId, keyId } = await issue(context, { recoverable: true });
    const before = await written(context, apiId, keyId);
    const without = createLatchkey({ store: context.store, clock: context.now });
    const error = await rejectionOf(without.rotateKey({ keyId }));
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await written(context, apiId, keyId)).toEqual(before);
  });

  test("a caller may forbid recoverable keys, and is asked for no others", async () => {
    const context = open({ vault });
    const { latchkey } = context;
    const apiIds: string[] = [];
    const beforeSealing = (apiId: string) => {
      apiIds.push(apiId);
      throw new RangeError("not you");
    };
    const plain = await issue(context);
    await latchkey.rotateKey({ keyId: plain.keyId }, { beforeSealing });
    expect(apiIds).toEqual([]);
    const sealed = await issue(context, { recoverable: true });
    await expect(latchkey.rotateKey({ keyId: sealed.keyId }, { beforeSealing })).rejects.toThrow(
      RangeError,
    );
    expect(apiIds).toEqual([sealed.apiId]);
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
    const context = open();
    const { keyId } = await issue(context);
    const error = await rejectionOf(context.latchkey.rotateKey({ keyId, ...fields } as never));
    expect(error.issues).toMatchObject([{ path }]);
  });

  test("a grace may be at most a year", async () => {
    const context = open();
    const { keyId } = await issue(context);
    await context.latchkey.rotateKey({ keyId, graceMs: YEAR_MS });
    expect((await context.latchkey.getKey({ keyId })).expires).toBe(NOON + YEAR_MS);
  });

  test("the expiry of a rotated key can only be moved to an earlier instant", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId, key } = await issue(context);
    await latchkey.rotateKey({ keyId, graceMs: HOUR_MS });
    for (const expires of [null, NOON + HOUR_MS + 1]) {
      expect(await rejectionOf(latchkey.updateKey({ keyId, expires }))).toMatchObject({
        code: "PRECONDITION_FAILED",
      });
    }
    await latchkey.updateKey({ keyId, expires: NOON + HOUR_MS });
    await latchkey.updateKey({ keyId, expires: NOON + 2, name: "the old one" });
    expect((await latchkey.getKey({ keyId })).expires).toBe(NOON + 2);
    context.setClock(NOON + 2);
    expect(await rejectionOf(latchkey.updateKey({ keyId, enabled: true }))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect((await latchkey.verifyKey({ key })).code).toBe("EXPIRED");
  });
});
