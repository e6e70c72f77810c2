import type { KeyStore, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { THEIRS } from "./erasing.js";
import { describeOnEveryStore } from "./every-store.js";
import { wrapped } from "./wrapped-store.js";

const { externalId, identityMeta } = THEIRS;

/** A store that runs `act` after the first commit that succeeds. */
function followed(store: KeyStore, act: () => Promise<unknown>): KeyStore {
  let isDone = false;
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      const result = await store.commit(workspaceId, change);
      if (result.kind !== "committed" || isDone) return result;
      isDone = true;
      await act();
      return result;
    },
  });
}

/** Writes that answer with a view of the identity. */
const WRITES: readonly (readonly [
  string,
  (latchkey: Latchkey, idempotencyKey: string) => Promise<unknown>,
])[] = [
  [
    "updateIdentity",
    (latchkey, idempotencyKey) =>
      latchkey.updateIdentity({ externalId, remaining: 7, idempotencyKey }),
  ],
  [
    "updateIdentity that changes nothing",
    (latchkey, idempotencyKey) =>
      latchkey.updateIdentity({ externalId, meta: { note: identityMeta }, idempotencyKey }),
  ],
];

describeOnEveryStore("erasing beside a write with an idempotencyKey", (open) => {
  test.each(WRITES)("B2: %s remembers nothing of them", async (_, write) => {
    const context = open();
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createIdentity({ externalId, meta: { note: identityMeta } });
    await latchkey.createKey({ apiId, externalId });
    const erase = () => latchkey.eraseIdentity({ externalId });
    const writing = context.another({ store: followed(store, erase) });
    expect(await write(writing, "once")).toMatchObject({ externalId });
    const list = { kind: "rememberedAnswer", list: "rememberedAnswer", after: null } as const;
    const { found } = await store.page("ws_default", { ...list, limit: 100 });
    expect(JSON.stringify(found)).not.toContain("subject");
    await expect(write(latchkey, "once")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test.each(WRITES)("without an erasure, %s is remembered", async (_, write) => {
    const { latchkey } = open();
    await latchkey.createIdentity({ externalId, meta: { note: identityMeta } });
    const first = await write(latchkey, "once");
    await latchkey.updateIdentity({ externalId, meta: {}, remaining: 3 });
    expect(await write(latchkey, "once")).toEqual(first);
  });
});
