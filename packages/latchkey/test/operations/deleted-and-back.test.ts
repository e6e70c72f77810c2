import { createLatchkey, interceptStore, type ReadResult } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";

/** Some records, and a latchkey whose first read finds none of them, as if it saw a deletion that a failover lost afterwards. */
async function lookedTooEarly() {
  const store = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { keyId } = await latchkey.createKey({ apiId, externalId: "user_1" });
  const { id: identityId } = await latchkey.getIdentity({ externalId: "user_1" });
  const { roleId } = await latchkey.createRole({ name: "writer" });
  const { permissionId } = await latchkey.createPermission({ name: "write" });
  const { rootKeyId } = await latchkey.createRootKey({ permissions: ["api.*.read_api"] });
  let isFirst = true;
  const early = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      const answer = await run();
      if (method !== "read" || !isFirst) return answer;
      isFirst = false;
      const { revision, found } = answer as ReadResult;
      return { revision, found: found.map(() => null) };
    }),
  });
  return { early, inputs: { apiId, keyId, identityId, roleId, permissionId, rootKeyId } };
}

test.each([
  ["deleteApi", "apiId"],
  ["deleteKey", "keyId"],
  ["deleteIdentity", "identityId"],
  ["deleteRole", "roleId"],
  ["deletePermission", "permissionId"],
  ["revokeRootKey", "rootKeyId"],
] as const)(
  "%s reads again if the record is back by the time of the commit, and deletes it",
  async (name, id) => {
    const { early, inputs } = await lookedTooEarly();
    const call = early[name] as (input: unknown) => Promise<unknown>;
    await expect(call({ [id]: inputs[id] })).resolves.toBeTypeOf("object");
    await expect(call({ [id]: inputs[id] })).rejects.toMatchObject({ code: "NOT_FOUND" });
  },
);

test.each([
  ["eraseIdentity", "externalId", { erasedIdentities: 1 }],
  ["eraseIdentity", "identityId", { erasedIdentities: 1 }],
  ["revokePortalSession", "externalId", { revokedSessions: 1 }],
  ["disableKeys", "externalId", { disabledKeys: 1 }],
  ["disableKeys", "apiId", { disabledKeys: 1 }],
  ["deleteKeys", "apiId", { deletedKeys: 1 }],
] as const)(
  "%s by %s looks again if its subject is back by the time of the commit",
  async (operation, name, answer) => {
    const store = memoryStore();
    const latchkey = createLatchkey({ store });
    const { identityId } = await latchkey.createIdentity({ externalId: "user_1" });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    await latchkey.createKey({ apiId, externalId: "user_1" });
    await latchkey.createPortalSession({ externalId: "user_1", allow: { apiIds: [apiId] } });
    let isEarly = true;
    const early = createLatchkey({
      store: interceptStore(store, async ({ method }, run) => {
        const answer = await run();
        if (method === "commit") isEarly = false;
        if (!isEarly || (method !== "read" && method !== "page")) return answer;
        const { found, ...rest } = answer as ReadResult;
        return { ...rest, found: method === "page" ? [] : found.map(() => null) };
      }),
    });
    const call = early[operation] as (input: unknown) => Promise<unknown>;
    const input = { [name]: { externalId: "user_1", identityId, apiId }[name] };
    expect(await call(input)).toMatchObject(answer);
    expect(isEarly).toBe(false);
  },
);

test("an expiry is noticed if the API of its key is back by the time of the commit", async () => {
  const store = memoryStore();
  let now = Date.now();
  const clock = () => now;
  const latchkey = createLatchkey({ store, clock });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await latchkey.createKey({ apiId, expires: now + 1_000 });
  now += 2_000;
  let isEarly = true;
  const early = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      const answer = await run();
      if (method === "commit") isEarly = false;
      if (!isEarly || method !== "read") return answer;
      const { revision, found } = answer as ReadResult;
      return { revision, found: found.map((one) => (one?.record.kind === "api" ? null : one)) };
    }),
    clock,
  });
  expect(await early.notice()).toEqual({ noticed: 1 });
  expect(isEarly).toBe(false);
});

test("a key that is back for one read, and deleted before the next, is not found rather than damaged", async () => {
  const store = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { keyId } = await latchkey.createKey({ apiId });
  let reads = 0;
  const early = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      if (method === "page") await latchkey.deleteKey({ keyId });
      const answer = await run();
      if (method !== "read") return answer;
      reads += 1;
      const { revision, found } = answer as ReadResult;
      return reads === 1 ? { revision, found: found.map(() => null) } : answer;
    }),
  });
  await expect(early.getKey({ keyId })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test.each([
  ["deleteKey", {}],
  ["updateKey", { name: "till" }],
] as const)(
  "%s reads again if the API of its key is back by the time of the commit",
  async (name, fields) => {
    const store = memoryStore();
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { keyId } = await latchkey.createKey({ apiId });
    let isFirst = true;
    const early = createLatchkey({
      store: interceptStore(store, async ({ method }, run) => {
        const answer = await run();
        if (method !== "read" || !isFirst) return answer;
        const { revision, found } = answer as ReadResult;
        isFirst = !found.some((one) => one?.record.kind === "api");
        // The deletion made a revision of its own, which was lost with it.
        return {
          revision: revision + 1,
          found: found.map((one) => (one?.record.kind === "api" ? null : one)),
        };
      }),
    });
    const call = early[name] as (input: unknown) => Promise<unknown>;
    await expect(call({ keyId, ...fields })).resolves.toBeTypeOf("object");
    expect(isFirst).toBe(false);
  },
);
