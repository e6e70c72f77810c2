import { createLatchkey, type Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { damageBody } from "../damage.js";
import { DAY_MS, describeOnMemory, NOON, rejectionOf, VAULT_KEYS } from "../test-context.js";
import { overtaken } from "../wrapped-store.js";

describeOnMemory("listKeys", (open) => {
  test("pages contain every key once, in the order of creation, and the last page has no cursor", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const made: string[] = [];
    for (let count = 0; count < 25; count += 1)
      made.push((await latchkey.createKey({ apiId })).keyId);
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await latchkey.listKeys({ apiId, limit: 5, ...(cursor && { cursor }) });
      seen.push(...page.keys.map(({ id }) => id));
      expect(page.total).toBe(25);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(seen).toEqual(made);
    expect(pages).toBe(5);
  });

  test("a filter by externalId narrows the list and not the total", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createKey({ apiId });
    const { keyId } = await latchkey.createKey({ apiId, externalId: "pier-7" });
    for (const filter of [
      { externalId: "pier-7" },
      { ownerId: "pier-7" },
      { ownerId: "no", externalId: "pier-7" },
    ]) {
      const { keys, total } = await latchkey.listKeys({ apiId, ...filter });
      expect(keys.map(({ id }) => id)).toEqual([keyId]);
      expect(total).toBe(2);
    }
    expect(await latchkey.listKeys({ apiId, externalId: "nobody" })).toEqual({
      keys: [],
      total: 2,
    });
  });

  test("deleted keys are no longer listed or counted", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId });
    await latchkey.createKey({ apiId });
    await latchkey.deleteKey({ keyId });
    const { keys, total } = await latchkey.listKeys({ apiId });
    expect(total).toBe(1);
    expect(keys.map(({ id }) => id)).not.toContain(keyId);
    expect(await rejectionOf(latchkey.getKey({ keyId }))).toMatchObject({ code: "NOT_FOUND" });
    expect(await rejectionOf(latchkey.deleteKey({ keyId }))).toMatchObject({ code: "NOT_FOUND" });
  });

  test("a damaged cursor, or one of another API or list, is refused", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { apiId: otherApiId } = await latchkey.createApi({ name: "harbour gates" });
    for (let count = 0; count < 2; count += 1) {
      await latchkey.createKey({ apiId, externalId: `pier-${count}` });
    }
    const { cursor = "" } = await latchkey.listKeys({ apiId, limit: 1 });
    const { cursor: foreign = "" } = await latchkey.listIdentities({ limit: 1 });
    expect(cursor).not.toBe("");
    expect(foreign).not.toBe("");
    const refused = [
      latchkey.listKeys({ apiId, cursor: `${cursor}A` }),
      latchkey.listKeys({ apiId, cursor: cursor.slice(1) }),
      latchkey.listKeys({ apiId, cursor: foreign }),
      latchkey.listKeys({ apiId: otherApiId, cursor }),
      latchkey.listIdentities({ cursor }),
    ];
    for (const error of await Promise.all(refused.map(rejectionOf))) {
      expect(error.issues).toEqual([{ path: "cursor", message: expect.any(String) }]);
    }
  });

  test("shows a due refill without writing it", async () => {
    const context = open();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await context.latchkey.createKey({
      apiId,
      remaining: 1,
      refill: { interval: "daily", amount: 9 },
    });
    await context.latchkey.verifyKey({ key });
    context.advance(DAY_MS);
    const midnight = NOON + DAY_MS / 2;
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({
      remaining: 9,
      enabled: true,
      refill: { lastRefillAt: midnight },
    });
    context.advance(DAY_MS);
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({
      refill: { lastRefillAt: midnight + DAY_MS },
    });
  });

  test("decrypts what was made recoverable, and only where that is wanted", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { key } = await context.latchkey.createKey({ apiId, recoverable: true });
    await context.latchkey.createKey({ apiId });
    const { keys } = await context.latchkey.listKeys({ apiId, decrypt: true });
    expect(keys.map((listed) => listed.plaintext)).toEqual([key, undefined]);
    expect((await context.latchkey.listKeys({ apiId })).keys[0]).not.toHaveProperty("plaintext");
  });

  test("a page without recoverable keys can be decrypted without a vault", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId });
    const { keys } = await latchkey.listKeys({ apiId, decrypt: true });
    expect(keys).toEqual([await latchkey.getKey({ keyId })]);
    expect(await latchkey.getKey({ keyId, decrypt: true })).toEqual(keys[0]);
  });

  test("a secret that cannot be decrypted has a reason, and does not affect others on its page", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const plain = await context.latchkey.createKey({ apiId });
    const sealed = await context.latchkey.createKey({ apiId, recoverable: true });
    const spoilt = await context.latchkey.createKey({ apiId, recoverable: true });
    await damageBody(context.store, "key", spoilt.keyId, (body) => ({
      ...body,
      sealedSecret: `${body.sealedSecret}A`,
    }));
    const shown = async (latchkey: Latchkey) => {
      const { keys, damaged } = await latchkey.listKeys({ apiId, decrypt: true });
      expect([keys.map(({ id }) => id), damaged]).toEqual([
        [plain.keyId, sealed.keyId, spoilt.keyId],
        undefined,
      ]);
      return keys.map(({ plaintext, plaintextError }) => plaintext ?? plaintextError);
    };
    expect(await shown(context.latchkey)).toEqual([undefined, sealed.key, "damaged"]);
    const later = context.another({ vault: { current: "b", keys: { b: VAULT_KEYS[1] } } });
    expect(await shown(later)).toEqual([undefined, "vault-key-missing", "damaged"]);
    const without = createLatchkey({ store: context.store });
    expect(await shown(without)).toEqual([undefined, "no-vault", "no-vault"]);
  });

  test("a secret whose pepper is not in the ring is not called damaged, nor is one under another pepper of that id", async () => {
    const vault = { current: "a", keys: { a: VAULT_KEYS[0] } };
    const pepper = (id: string, byte: number) => ({
      current: id,
      keys: { [id]: Uint8Array.from({ length: 32 }, (_, index) => byte + index) },
    });
    const context = open({ vault, pepper: pepper("spring", 101) });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { keyId } = await context.latchkey.createKey({ apiId, recoverable: true });
    const rotated = context.another({ vault, pepper: pepper("autumn", 102) });
    const { keys } = await rotated.listKeys({ apiId, decrypt: true });
    expect(keys.map(({ plaintextError }) => plaintextError)).toEqual(["pepper-missing"]);
    expect(await rejectionOf(rotated.getKey({ keyId, decrypt: true }))).toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "pepper-missing",
      message: expect.stringContaining("the pepper spring "),
    });
    const swapped = context.another({ vault, pepper: pepper("spring", 103) });
    expect(await rejectionOf(swapped.getKey({ keyId, decrypt: true }))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("the pepper is a different one with the same id"),
    });
  });

  test("getKey refuses to decrypt a secret that does not open, and says why", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const { keyId } = await context.latchkey.createKey({ apiId, recoverable: true });
    const input = { keyId, decrypt: true };
    const later = context.another({ vault: { current: "b", keys: { b: VAULT_KEYS[1] } } });
    expect(await rejectionOf(later.getKey(input))).toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "vault-key-missing",
    });
    const without = createLatchkey({ store: context.store });
    expect(await rejectionOf(without.getKey(input))).toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "no-vault",
    });
    await damageBody(context.store, "key", keyId, (body) => ({
      ...body,
      sealedSecret: `${body.sealedSecret}A`,
    }));
    expect(await rejectionOf(context.latchkey.getKey(input))).toMatchObject({
      code: "STORE_CORRUPT",
    });
  });

  test("re-encrypts with the current vault key when read, and all of them by a bulk call", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const secrets: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      secrets.push((await context.latchkey.createKey({ apiId, recoverable: true })).key);
    }
    const rotating = context.another({
      vault: { current: "b", keys: { a: VAULT_KEYS[0], b: VAULT_KEYS[1] } },
    });
    const first = (await rotating.listKeys({ apiId, limit: 1, decrypt: true })).keys[0];
    expect(first?.plaintext).toBe(secrets[0]);
    const onePage = await rotating.reencryptKeys({ apiId, limit: 3 });
    expect(onePage).toEqual({ reencrypted: 2, cursor: expect.any(String) });
    expect(await rotating.reencryptKeys({ apiId, cursor: onePage.cursor as string })).toEqual({
      reencrypted: 2,
    });
    const rotated = context.another({ vault: { current: "b", keys: { b: VAULT_KEYS[1] } } });
    const { keys } = await rotated.listKeys({ apiId, decrypt: true });
    expect(keys.map(({ plaintext }) => plaintext)).toEqual(secrets);
    expect(keys.every(({ updatedAt }) => updatedAt === undefined)).toBe(true);
    const behind = await context.latchkey.listKeys({ apiId, decrypt: true });
    expect(behind.keys.map(({ plaintextError }) => plaintextError)).toEqual(
      secrets.map(() => "vault-key-missing"),
    );
  });

  test("shows a secret even if its key is deleted before it can be re-encrypted", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { latchkey } = context;
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const made = [
      await latchkey.createKey({ apiId, recoverable: true }),
      await latchkey.createKey({ apiId, recoverable: true }),
    ] as const;
    const store = overtaken(context.store, () => latchkey.deleteKey({ keyId: made[0].keyId }));
    const rotating = context.another({
      store,
      vault: { current: "b", keys: { a: VAULT_KEYS[0], b: VAULT_KEYS[1] } },
    });
    const { keys } = await rotating.listKeys({ apiId, decrypt: true });
    expect(keys.map(({ plaintext }) => plaintext)).toEqual(made.map(({ key }) => key));
    const rotated = context.another({ vault: { current: "b", keys: { b: VAULT_KEYS[1] } } });
    const left = await rotated.listKeys({ apiId, decrypt: true });
    expect(left.keys.map(({ plaintext }) => plaintext)).toEqual([made[1].key]);
  });

  test("a secret whose vault key is missing does not prevent the re-encryption of others", async () => {
    const [one, two] = VAULT_KEYS;
    const lost = Uint8Array.from({ length: 32 }, (_, index) => index * 7 + 3);
    const context = open({ vault: { current: "lost", keys: { lost } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    await context.latchkey.createKey({ apiId, recoverable: true });
    const before = context.another({ vault: { current: "a", keys: { a: one } } });
    const { key } = await before.createKey({ apiId, recoverable: true });
    const after = context.another({ vault: { current: "b", keys: { a: one, b: two } } });
    expect(await after.reencryptKeys({ apiId })).toEqual({ reencrypted: 1, unopened: 1 });
    const rotated = context.another({ vault: { current: "b", keys: { b: two } } });
    const { keys } = await rotated.listKeys({ apiId, decrypt: true });
    expect(keys).toHaveLength(2);
    expect(keys.flatMap(({ plaintext = [] }) => plaintext)).toEqual([key]);
  });
});
