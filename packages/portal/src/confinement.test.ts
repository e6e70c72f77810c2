import { jsonOf } from "@latchkey/console/testing";
import type { KeyView, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { createPortal } from "./fetch.js";
import { OWN, openLatchkey, STORES } from "./testing/fixture.js";

/** Requests for each store. A full run takes LATCHKEY_PORTAL_REQUESTS=100000. */
const REQUESTS = Number(process.env.LATCHKEY_PORTAL_REQUESTS ?? 500);

/** Draws from a seed. @see https://prng.di.unimi.it/splitmix64.c, with the constants of its 32-bit variant. */
function chanceOf(seed: number) {
  let state = seed;
  const below = (end: number) => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return Math.floor((((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32) * end);
  };
  return { below, pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item };
}

const LIMIT = { name: "default", limit: 50, duration: 60_000 };
const MAX_KEYS = 6;
const WEEK_MS = 7 * 86_400_000;

/** All keys and data of one identity, as the host sees them. */
async function everythingOf(latchkey: Latchkey, externalId: string) {
  const { keys } = await latchkey.listKeys({ externalId, limit: 100 });
  return { keys, identity: await latchkey.getIdentity({ externalId }) };
}

test.each(Object.entries(STORES))(
  "K1 on %s: whatever is sent with a session, nothing of another identity is answered or written, and no key may do more than the session",
  async (_, open) => {
    const seed = Number(process.env.LATCHKEY_SEED ?? 20260310);
    const chance = chanceOf(seed);
    const { latchkey, apiId } = await openLatchkey(open());
    await latchkey.createPermission({ name: "tiles.admin" });
    await latchkey.createRole({ name: "admin", permissions: ["tiles.admin"] });
    const { apiId: otherApiId } = await latchkey.createApi({ name: "charts" });
    const foreign: string[] = ["key_none", otherApiId, "", "*"];
    const secrets: string[] = [];
    for (const externalId of ["bob", "carol", "alice2", "dave"])
      for (const api of [apiId, otherApiId]) {
        const { keyId, key } = await latchkey.createKey({
          apiId: api,
          externalId,
          name: `secret plan of ${externalId}`,
        });
        foreign.push(keyId);
        secrets.push(keyId, key, `secret plan of ${externalId}`);
      }
    const ownerless = await latchkey.createKey({ apiId, name: "secret plan of nobody" });
    // Two keys of Alice: one in an API outside of the session, and one with more permissions than the session.
    const hidden = await latchkey.createKey({ apiId: otherApiId, externalId: "alice" });
    foreign.push(
      ownerless.keyId,
      hidden.keyId,
      (await latchkey.getIdentity({ externalId: "bob" })).id,
    );
    secrets.push(ownerless.keyId, hidden.keyId, "secret plan of nobody");
    const strong = await latchkey.createKey({ apiId, externalId: "alice", roles: ["admin"] });
    const session = {
      externalId: "alice",
      ttl: "1h",
      allow: {
        apiIds: [apiId],
        create: true,
        rotate: true,
        revoke: true,
        permissions: ["tiles.read"],
        maxKeys: MAX_KEYS,
        ratelimits: [LIMIT],
      },
    } as const;
    const others = ["bob", "carol", "alice2", "dave"];
    const before = await Promise.all(others.map((who) => everythingOf(latchkey, who)));
    const ownerlessBefore = await latchkey.getKey({ keyId: ownerless.keyId });
    const hiddenBefore = await latchkey.getKey({ keyId: hidden.keyId });

    const answer = createPortal(latchkey, { session: () => session });
    const begin = await answer(
      new Request("https://host.test/session", { method: "POST", headers: OWN, body: "{}" }),
    );
    const cookie = begin.headers.get("set-cookie")?.split(";")[0] ?? "";
    const headers = { ...OWN, cookie };

    const own = [strong.keyId];
    const made = new Set<string>();
    const ids = () => chance.pick([chance.pick(foreign), chance.pick(foreign), chance.pick(own)]);
    const ODD = [
      undefined,
      null,
      0,
      -1,
      1e99,
      "",
      "a\0b",
      [],
      {},
      true,
      "tiles.admin",
      "*",
      "__proto__",
    ];
    const fields: Readonly<Record<string, () => unknown>> = {
      keyId: ids,
      apiId: () => chance.pick([apiId, otherApiId, "api_none", undefined]),
      externalId: () => chance.pick(others),
      identityId: ids,
      ownerId: () => chance.pick(others),
      name: () => chance.pick(["boat", "car", "x".repeat(300)]),
      permissions: () =>
        chance.pick([
          ["tiles.read"],
          ["tiles.read", "tiles.admin"],
          ["*"],
          ["tiles.*"],
          [],
          undefined,
        ]),
      roles: () => ["admin"],
      ratelimits: () => [],
      remaining: () => 9_999,
      expires: () => chance.pick([latchkey.now() + 60_000, 1, undefined]),
      graceMs: () => chance.pick([0, "1h", "7d", "8d", undefined]),
      days: () => chance.pick([1, 30]),
      limit: () => chance.pick([1, 100]),
      cursor: () => chance.pick(["", "AAAA", undefined]),
      decrypt: () => true,
    };
    /** The usual fields of each call, so that many calls succeed. */
    const USUAL: Readonly<Record<string, readonly string[]>> = {
      "keys.list": ["apiId", "limit"],
      "keys.usage": ["keyId", "days"],
      "keys.create": ["apiId", "name", "permissions"],
      "keys.rename": ["keyId", "name"],
      "keys.rotate": ["keyId", "graceMs"],
      "keys.revoke": ["keyId"],
    };
    const calls = Object.keys(USUAL);
    /** Every call with every foreign id comes first. Random calls follow. */
    const exhaustive = foreign.flatMap((id) => calls.map((name) => [name, id] as const));

    let written = 0;
    for (let count = 0; count < Math.max(REQUESTS, exhaustive.length); count += 1) {
      const [name, id] = exhaustive[count] ?? [chance.pick(calls), null];
      const input: Record<string, unknown> = {};
      for (const field of USUAL[name] ?? []) input[field] = fields[field]?.();
      if (id !== null)
        input[name === "keys.list" || name === "keys.create" ? "apiId" : "keyId"] = id;
      else if (chance.below(4) === 0) {
        const field = chance.pick(Object.keys(fields));
        input[field] = chance.below(2) === 0 ? fields[field]?.() : chance.pick(ODD);
      }
      const isRead = name === "keys.list" || name === "keys.usage";
      const given = Object.entries(input).filter(([, value]) => value !== undefined);
      const query = new URLSearchParams(
        given.map(([field, value]) => [field, `${value}`] as [string, string]),
      );
      const request = new Request(`https://host.test/${name}${isRead ? `?${query}` : ""}`, {
        method: isRead ? "GET" : "POST",
        headers,
        ...(!isRead && { body: JSON.stringify(input) }),
      });
      const { status, body } = await jsonOf(await answer(request));
      const text = JSON.stringify(body);
      const said = `seed ${seed}, request ${count}: ${name} ${JSON.stringify(input)} -> ${status}`;
      expect([200, 400, 403, 404, 409, 412], said).toContain(status);
      expect(
        secrets.filter((one) => text.includes(one)),
        said,
      ).toEqual([]);
      if (id !== null) expect(status, said).not.toBe(200);
      if (status !== 200 || isRead) continue;
      written += 1;
      if (body.keyId === undefined) continue;
      own.push(body.keyId);
      made.add(body.keyId);
      const key: KeyView = await latchkey.getKey({ keyId: body.keyId });
      expect(key, said).toMatchObject({ apiId, identity: { externalId: "alice" }, roles: [] });
      expect(
        key.permissions.filter((one) => one !== "tiles.read"),
        said,
      ).toEqual([]);
      expect(key.ratelimit, said).toMatchObject({ limit: 50, duration: 60_000 });
      const { keys } = await latchkey.listKeys({ apiId, externalId: "alice", limit: 100 });
      const replaced = keys.filter(({ rotatedTo }) => rotatedTo !== undefined);
      expect(keys.length - replaced.length, said).toBeLessThanOrEqual(MAX_KEYS);
      const now = latchkey.now();
      const ends = replaced.map(({ expires = Number.POSITIVE_INFINITY }) => expires);
      expect(ends.filter((end) => end > now).length, said).toBeLessThanOrEqual(MAX_KEYS);
      expect(ends.filter((end) => end <= now).length, said).toBeLessThanOrEqual(MAX_KEYS);
      expect(Math.max(0, ...ends), said).toBeLessThanOrEqual(now + WEEK_MS);
      // Makes room for new keys from time to time.
      if (keys.length >= 3 * MAX_KEYS)
        for (const one of keys.filter(({ id: known }) => made.has(known)).slice(0, 12))
          await latchkey.deleteKey({ keyId: one.id });
      if (own.length > 40) own.splice(1, 20);
    }
    expect(written, `seed ${seed}`).toBeGreaterThan(10);
    expect(await Promise.all(others.map((who) => everythingOf(latchkey, who)))).toEqual(before);
    expect(await latchkey.getKey({ keyId: ownerless.keyId })).toEqual(ownerlessBefore);
    expect(await latchkey.getKey({ keyId: hidden.keyId })).toEqual(hiddenBefore);
  },
  3_600_000,
);

test.each(Object.entries(STORES))(
  "on %s: however often a key is rotated without grace, only the last expired keys are kept, and its uses continue",
  async (_, open) => {
    const { latchkey, apiId } = await openLatchkey(open());
    const owner = { apiId, externalId: "alice" };
    const { keyId, key } = await latchkey.createKey({ ...owner, remaining: 90 });
    const other = await latchkey.createKey(owner);
    await latchkey.verifyKey({ key });
    const allow = { apiIds: [apiId], rotate: true, maxKeys: 3 };
    const { secret } = await latchkey.createPortalSession({ externalId: "alice", allow });
    const session = await latchkey.openPortalSession(secret);
    let last = { keyId, key };
    const ids = [keyId];
    for (let turn = 0; turn < 8; turn += 1) {
      last = (await session?.rotateMyKey({ keyId: last.keyId })) ?? last;
      ids.push(last.keyId);
    }
    const { keys } = await latchkey.listKeys(owner);
    expect(keys.map(({ id }) => id).sort()).toEqual([other.keyId, ...ids.slice(-4)].sort());
    expect(await latchkey.verifyKey({ key: last.key })).toMatchObject({
      valid: true,
      remaining: 88,
    });
    const { events } = await latchkey.listAuditEvents({ keyId: ids[0] as string });
    expect(events.map(({ type }) => type)).toContain("key.deleted");
  },
);

test.each(Object.entries(STORES))(
  "on %s: a session whose other API was deleted has only one, which need not be named",
  async (_, open) => {
    const { latchkey, apiId } = await openLatchkey(open());
    const { apiId: goneId } = await latchkey.createApi({ name: "charts" });
    const allow = { apiIds: [goneId, apiId], create: true };
    const { secret } = await latchkey.createPortalSession({ externalId: "alice", allow });
    const before = await latchkey.openPortalSession(secret);
    await expect(before?.createMyKey({})).rejects.toMatchObject({ code: "NOT_FOUND" });
    await latchkey.deleteApi({ apiId: goneId });
    const session = await latchkey.openPortalSession(secret);
    expect(session?.allow.apis.map(({ id }) => id)).toEqual([apiId]);
    const created = await session?.createMyKey({});
    expect((await session?.listMyKeys({}))?.keys).toMatchObject([{ id: created?.keyId, apiId }]);
    const gone = { code: "NOT_FOUND" };
    await expect(session?.listMyKeys({ apiId: goneId })).rejects.toMatchObject(gone);
    await latchkey.deleteApi({ apiId });
    const last = await latchkey.openPortalSession(secret);
    expect(last?.allow.apis).toEqual([]);
    await expect(last?.createMyKey({})).rejects.toMatchObject(gone);
  },
);
