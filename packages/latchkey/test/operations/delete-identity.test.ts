import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, HOUR_MS, NOON, rejectionOf, type TestContext } from "../test-context.js";

async function open7(context: TestContext, fields: object = {}) {
  const { latchkey } = context;
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { identityId } = await latchkey.createIdentity({ externalId: "pier-7", ...fields });
  const { keyId, key } = await latchkey.createKey({ apiId, externalId: "pier-7" });
  return { apiId, identityId, keyId, key };
}

describeOnMemory("deleteIdentity", (open) => {
  test("deletes the identity and keeps its keys without an owner, and the answer says so", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, identityId, keyId, key } = await open7(context, { meta: { berth: 4 } });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ identity: { meta: { berth: 4 } } });
    expect(await latchkey.deleteIdentity({ identityId })).toEqual({ keys: "unlinked" });
    const verdict = await latchkey.verifyKey({ key });
    expect(verdict).toMatchObject({ code: "VALID", keyId });
    expect("identity" in verdict || "ownerId" in verdict).toBe(false);
    const listed = await latchkey.getKey({ keyId });
    expect("identity" in listed || "ownerId" in listed).toBe(false);
    for (const lookup of [{ identityId }, { externalId: "pier-7" }])
      expect(await rejectionOf(latchkey.getIdentity(lookup))).toMatchObject({ code: "NOT_FOUND" });
    expect(await latchkey.listIdentities()).toEqual({ identities: [], total: 0 });
    expect(await latchkey.listKeys({ apiId, externalId: "pier-7" })).toEqual({
      keys: [],
      total: 1,
    });
  });

  test("its limits no longer apply, from the next verification in any process", async () => {
    const context = open();
    const { latchkey } = context;
    const limits = { ratelimits: [{ name: "a", limit: 1, duration: HOUR_MS, autoApply: true }] };
    const { identityId, key } = await open7(context, limits);
    const other = context.another();
    expect((await other.verifyKey({ key })).code).toBe("VALID");
    expect((await other.verifyKey({ key })).code).toBe("RATE_LIMITED");
    await latchkey.deleteIdentity({ identityId });
    const verdict = await other.verifyKey({ key });
    expect(verdict.code).toBe("VALID");
    expect("ratelimits" in verdict).toBe(false);
    const named = other.verifyKey({ key, ratelimits: [{ name: "a" }] });
    expect(await rejectionOf(named)).toMatchObject({ code: "BAD_REQUEST" });
  });

  test("a new identity with the same externalId does not get the keys, limits and uses of the old one", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, identityId, key } = await open7(context, { remaining: 3, meta: { berth: 4 } });
    await latchkey.deleteIdentity({ identityId });
    const again = await latchkey.createIdentity({ externalId: "pier-7" });
    expect(again.identityId).not.toBe(identityId);
    expect(await latchkey.getIdentity({ externalId: "pier-7" })).toEqual({
      id: again.identityId,
      externalId: "pier-7",
      meta: {},
      ratelimits: [],
    });
    expect("identity" in (await latchkey.verifyKey({ key }))).toBe(false);
    expect((await latchkey.listKeys({ apiId, externalId: "pier-7" })).keys).toEqual([]);
  });

  test("a key can be given another identity afterwards", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId, keyId, key } = await open7(context);
    await latchkey.deleteIdentity({ identityId });
    await latchkey.updateKey({ keyId, externalId: "pier-8" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ ownerId: "pier-8" });
  });

  test("an unknown identity, a deleted one and one of another workspace are not found in the same way", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId } = await open7(context);
    const foreign = await open7({ ...context, latchkey: latchkey.workspace("ws_other") });
    await latchkey.deleteIdentity({ identityId });
    const messages = new Set<string>();
    for (const id of ["id_unknown", identityId, foreign.identityId]) {
      const error = await rejectionOf(latchkey.deleteIdentity({ identityId: id }));
      expect(error.code).toBe("NOT_FOUND");
      messages.add(error.message);
    }
    expect(messages.size).toBe(1);
    expect((await latchkey.workspace("ws_other").listIdentities()).total).toBe(1);
  });

  test("of several racing calls, one deletes it, and there is one event", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const { identityId } = await open7(context, { meta: { berth: 4 } });
    events.length = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => context.latchkey.deleteIdentity({ identityId })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(events).toMatchObject([
      {
        type: "identity.deleted",
        at: NOON,
        resourceId: identityId,
        identityId,
        changes: [
          { field: "externalId", before: "pier-7" },
          { field: "meta", before: { berth: 4 } },
        ],
      },
    ]);
    const { events: entries } = await context.latchkey.listAuditEvents({ identityId });
    expect(entries[0]).toMatchObject({ type: "identity.deleted", resourceId: identityId });
  });

  test("accepts the id and nothing else", async () => {
    const { latchkey } = open();
    const error = await rejectionOf(latchkey.deleteIdentity({ externalId: "pier-7" } as never));
    expect(error.issues).toEqual([
      { path: "identityId", message: "is required" },
      { path: "externalId", message: "is not a known field" },
    ]);
  });
});
