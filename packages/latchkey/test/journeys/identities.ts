import { expect } from "vitest";
import { expectRefused, HOUR_MS } from "../test-context.js";
import type { Journey } from "./journey.js";

/** createIdentity, getIdentity, listIdentities, updateIdentity, deleteIdentity. */
export const IDENTITIES: Journey = {
  resource: "identities",
  title:
    "are made once, found by either id, share uses and limits among their keys, and leave their keys behind",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const racers = [latchkey, other, latchkey, other].map((one) =>
      one.createIdentity({ externalId: "pier-7", meta: { berth: 4 }, remaining: 4 }),
    );
    const outcomes = await Promise.allSettled(racers);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expectRefused("CONFLICT", [other.createIdentity({ externalId: "pier-7" })]);
    const { id: identityId } = await other.getIdentity({ externalId: "pier-7" });
    expect(await latchkey.getIdentity({ identityId })).toMatchObject({
      externalId: "pier-7",
      meta: { berth: 4 },
      remaining: 4,
    });

    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const fields = { apiId, externalId: "pier-7", usesFrom: "identity" } as const;
    const keys = [await latchkey.createKey(fields), await other.createKey(fields)];
    for (const [at, { key }] of keys.entries())
      expect(await (at === 0 ? other : latchkey).verifyKey({ key })).toMatchObject({
        remaining: 3 - at,
        identity: { meta: { berth: 4 } },
      });
    const limit = { name: "reads", limit: 1, duration: HOUR_MS, autoApply: true };
    await latchkey.updateIdentity({ identityId, meta: { berth: 5 }, ratelimits: [limit] });
    const verdicts = [];
    for (const { key } of keys) verdicts.push(await other.verifyKey({ key }));
    expect(verdicts).toMatchObject([
      { code: "VALID", remaining: 1, identity: { meta: { berth: 5 } } },
      { code: "RATE_LIMITED", remaining: 1 },
    ]);

    // Lists are in the order of ids. Within one millisecond, that is the order of creation only in a single process.
    context.advance(1);
    await other.createIdentity({ externalId: "pier-8" });
    const first = await latchkey.listIdentities({ limit: 1 });
    expect(first).toMatchObject({ identities: [{ id: identityId }], total: 2 });
    const second = await other.listIdentities({ limit: 1, cursor: first.cursor as string });
    expect(second).toMatchObject({ identities: [{ externalId: "pier-8" }], total: 2 });
    await expectRefused("BAD_REQUEST", [latchkey.listIdentities({ limit: 0 })]);
    expect(await other.listIdentities({ externalIdContains: "PIER-8" })).toEqual({
      identities: second.identities,
      total: 2,
      scanned: 2,
    });

    const [kept] = keys;
    const free = await latchkey.createKey({ apiId, externalId: "pier-7" });
    await latchkey.deleteIdentity({ identityId });
    const verdict = await other.verifyKey({ key: free.key });
    expect(verdict).toMatchObject({ code: "VALID" });
    expect(verdict).not.toHaveProperty("identity");
    expect(await other.getKey({ keyId: kept?.keyId ?? "" })).not.toHaveProperty("ownerId");
    expect(await other.listIdentities()).toMatchObject({ total: 1 });
    await expectRefused("NOT_FOUND", [
      other.getIdentity({ identityId }),
      other.getIdentity({ externalId: "pier-7" }),
      other.updateIdentity({ identityId, meta: {} }),
      other.deleteIdentity({ identityId }),
    ]);
    const again = await other.createIdentity({ externalId: "pier-7" });
    expect(again.identityId).not.toBe(identityId);
    const last = await other.createKey({ apiId, externalId: "pier-7" });
    expect(await latchkey.eraseIdentity({ externalId: "pier-7" })).toMatchObject({
      erasedIdentities: 2,
      deletedKeys: 4,
    });
    for (const { key } of [last, free])
      expect((await other.verifyKey({ key })).code).toBe("NOT_FOUND");
    await expectRefused("NOT_FOUND", [other.eraseIdentity({ externalId: "pier-7" })]);
  },
};
