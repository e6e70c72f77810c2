import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { digest, foreign } from "../imports.js";
import { describeOnMemory, issue, rejectionOf, VAULT_KEYS } from "../test-context.js";

describeOnMemory("deleteKey", (open) => {
  test("deletes the key at once for every process and every operation", async () => {
    const context = open({ vault: { current: "v", keys: { v: VAULT_KEYS[0] } } });
    const { latchkey } = context;
    const other = context.another();
    const { apiId, keyId, key } = await issue(context, { recoverable: true, remaining: 5 });
    expect((await other.verifyKey({ key })).code).toBe("VALID");
    expect(await latchkey.deleteKey({ keyId })).toEqual({});
    expect(await other.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await latchkey.listKeys({ apiId })).toEqual({ keys: [], total: 0 });
    for (const call of [
      latchkey.getKey({ keyId, decrypt: true }),
      latchkey.updateKey({ keyId, name: "back" }),
      latchkey.updateRemaining({ keyId, op: "set", value: 5 }),
      latchkey.rotateKey({ keyId }),
      latchkey.deleteKey({ keyId }),
    ])
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
  });

  test("nothing of it is kept in the store but its entries in the log", async () => {
    const context = open({ vault: { current: "v", keys: { v: VAULT_KEYS[0] } } });
    const { latchkey, store } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const before = await latchkey.createKey({ apiId });
    const sealed = { apiId, plaintext: foreign(1), externalId: "pier-7", recoverable: true };
    const [keyId = ""] = (await latchkey.createKeys([sealed])).keyIds;
    await latchkey.deleteKey({ keyId });
    const hash = digest(foreign(1)).toString("base64url");
    const { found } = await store.read("ws_default", [
      { kind: "key", id: keyId },
      { kind: "key", index: "hash", value: hash },
    ]);
    expect(found).toEqual([null, null]);
    const page = { kind: "key", list: `keys:${apiId}`, after: null, limit: 10 } as const;
    const { found: listed, size } = await store.page("ws_default", page);
    expect([listed.map(({ record }) => record.id), size]).toEqual([[before.keyId], 1]);
    expect((await latchkey.createKeys([sealed])).keyIds).toHaveLength(1);
  });

  test("emits one event with the whole key, and keeps its entries in the log", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const { keyId } = await issue(context, { name: "north pier", externalId: "pier-7" });
    events.length = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => context.latchkey.deleteKey({ keyId })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(events).toMatchObject([{ type: "key.deleted", keyId }]);
    const { events: entries } = await context.latchkey.listAuditEvents({ keyId });
    expect(entries.map(({ type }) => type)).toEqual(["key.deleted", "key.created"]);
    expect(entries[0]?.changes).toEqual(
      expect.arrayContaining([
        { field: "name", before: "north pier" },
        { field: "externalId", before: "pier-7" },
      ]),
    );
  });

  test("does not find a key of another workspace", async () => {
    const context = open();
    const { keyId, key } = await issue(context);
    const elsewhere = context.latchkey.workspace("ws_other");
    expect(await rejectionOf(elsewhere.deleteKey({ keyId }))).toMatchObject({ code: "NOT_FOUND" });
    expect((await context.latchkey.verifyKey({ key })).code).toBe("VALID");
  });
});
