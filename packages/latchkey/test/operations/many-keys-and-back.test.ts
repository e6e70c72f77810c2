import {
  createLatchkey,
  interceptStore,
  type JsonValue,
  type LoadedRecord,
  type PageResult,
  type ReadResult,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";

/** Three keys, and a latchkey that sees its records as `seen` says until its first commit: a failover then loses what it has seen. */
async function beforeFailover(seen: (loaded: LoadedRecord) => LoadedRecord | null) {
  const store = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const made = await Promise.all(
    [0, 1, 2].map(() => latchkey.createKey({ apiId, externalId: "user_1" })),
  );
  const { id: identityId } = await latchkey.getIdentity({ externalId: "user_1" });
  let isLost = false;
  const see = (loaded: LoadedRecord | null): LoadedRecord | null =>
    isLost || loaded === null ? loaded : seen(loaded);
  const early = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      if (method === "commit") isLost = true;
      const answer = await run();
      if (method === "read") {
        const { revision, found } = answer as ReadResult;
        return { revision, found: found.map(see) };
      }
      if (method !== "page") return answer;
      const page = answer as PageResult;
      return { ...page, found: page.found.map(see).filter((loaded) => loaded !== null) };
    }),
  });
  const codes = () =>
    Promise.all(made.map(async ({ key }) => (await latchkey.verifyKey({ key })).code));
  const keyIds = made.map(({ keyId }) => keyId);
  return { early, codes, which: { apiId, keyIds, identityId, externalId: "user_1" } };
}

const REFERENCES = ["apiId", "keyIds", "identityId", "externalId"] as const;

const OPERATIONS = [
  ["deleteKeys", "NOT_FOUND"],
  ["disableKeys", "DISABLED"],
] as const;

const CASES = OPERATIONS.flatMap(([name, code]) =>
  REFERENCES.map((field) => [name, field, code] as const),
);

test.each(CASES)(
  "%s by %s: keys that were gone, and are back by the time of the commit, are revoked",
  async (name, field, code) => {
    const { early, codes, which } = await beforeFailover((loaded) =>
      loaded.record.kind === "key" ? null : loaded,
    );
    await early[name]({ [field]: which[field] });
    expect(await codes()).toEqual([code, code, code]);
  },
);

test.each(OPERATIONS)(
  "%s by externalId: an owner that was gone, and is back by the time of the commit, loses its keys",
  async (name, code) => {
    const { early, codes, which } = await beforeFailover(({ record, ...loaded }) =>
      record.kind === "identity" ? null : { ...loaded, record },
    );
    await early[name]({ externalId: which.externalId });
    expect(await codes()).toEqual([code, code, code]);
  },
);

test.each(REFERENCES)(
  "disableKeys by %s: keys that were off, and are on by the time of the commit, are switched off",
  async (field) => {
    const { early, codes, which } = await beforeFailover(({ record, ...loaded }) => {
      if (record.kind !== "key") return { ...loaded, record };
      const body = { ...(record.body as Readonly<Record<string, JsonValue>>), disabled: true };
      return { ...loaded, record: { ...record, version: record.version + 1, body } };
    });
    await early.disableKeys({ [field]: which[field] });
    expect(await codes()).toEqual(["DISABLED", "DISABLED", "DISABLED"]);
  },
);

test.each([
  ["delete", "NOT_FOUND"],
  ["disable", "DISABLED"],
] as const)(
  "deleteIdentity with keys: %s: keys that were gone, and are back by the time of the commit, are revoked",
  async (keys, code) => {
    const { early, codes, which } = await beforeFailover((loaded) =>
      loaded.record.kind === "key" ? null : loaded,
    );
    await early.deleteIdentity({ identityId: which.identityId, keys });
    expect(await codes()).toEqual([code, code, code]);
  },
);

test("a call that revokes keys ends if the store brings them back each time", async () => {
  const store = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { keyId } = await latchkey.createKey({ apiId });
  let isInside = false;
  const beside = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      const answer = await run();
      if (method !== "commit" || isInside) return answer;
      isInside = true;
      await latchkey.updateKey({ keyId, enabled: true });
      isInside = false;
      return answer;
    }),
  });
  await expect(beside.disableKeys({ apiId })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "unknown",
    message: expect.stringContaining("try again"),
  });
});

test("a call that revokes keys does not revoke those that are created while it looks again", async () => {
  let now = Date.UTC(2030, 0, 1);
  const options = { store: memoryStore(), clock: () => now };
  const latchkey = createLatchkey(options);
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await latchkey.createKey({ apiId });
  const later: string[] = [];
  const beside = createLatchkey({
    ...options,
    store: interceptStore(options.store, async ({ method }, run) => {
      const answer = await run();
      now += 1;
      if (method === "commit") later.push((await latchkey.createKey({ apiId })).key);
      return answer;
    }),
  });
  expect(await beside.deleteKeys({ apiId })).toEqual({ deletedKeys: 1 });
  expect(later).toHaveLength(2);
  for (const key of later) expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
});

test.each(OPERATIONS)(
  "%s: the last key was gone, and is back by the time of the commit",
  async (name, code) => {
    let lastId = "";
    const { early, codes, which } = await beforeFailover((loaded) =>
      loaded.record.id === lastId ? null : loaded,
    );
    lastId = [...which.keyIds].sort().at(-1) ?? "";
    await early[name]({ apiId: which.apiId });
    expect(await codes()).toEqual([code, code, code]);
  },
);
