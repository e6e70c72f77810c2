import { inspect } from "node:util";
import { LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { damageBody } from "./damage.js";
import { describeOnEveryStore, describeOnMemoryOrAll } from "./every-store.js";
import { rejectionOf, VAULT_KEYS } from "./test-context.js";

const PEPPER = Uint8Array.from({ length: 32 }, (_, index) => 7 * index + 3);

/** Every form in which a text could occur in an output: plain, in base64, in hexadecimal. */
function traces(secret: string | Uint8Array): string[] {
  const bytes = Buffer.from(secret as string);
  const raw = typeof secret === "string" ? [secret] : [];
  return [...raw, bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")];
}

function everythingAbout(value: unknown): string {
  const shown = inspect(value, {
    depth: 20,
    showHidden: true,
    getters: true,
    maxStringLength: null,
  });
  const error =
    value instanceof Error
      ? `${value.stack} ${String(value)} ${inspect(value.cause, { depth: 20 })}`
      : "";
  return `${shown} ${JSON.stringify(value) ?? ""} ${error}`;
}

describeOnMemoryOrAll("secrets", (open) => {
  test("appear in what createKey and createRootKey answer, and in no other answer or error", async () => {
    const options = {
      vault: { current: "a", keys: { a: VAULT_KEYS[0] } },
      pepper: { current: "p", keys: { p: PEPPER } },
    };
    const { latchkey } = open(options);
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      recoverable: true,
      remaining: 2,
      externalId: "pier-7",
    });
    const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
    const answers: unknown[] = [
      latchkey,
      await latchkey.verifyKey({ key }),
      await latchkey.getKey({ keyId }),
      await latchkey.listKeys({ apiId }),
      await latchkey.authenticateRootKey(rootKey),
      await latchkey.updateRemaining({ keyId, op: "set", value: 1 }),
      await rejectionOf(latchkey.verifyKey({ key, ratelimits: [{ name: key }] })),
      await rejectionOf(
        latchkey.verifyKey({ key, authorization: { permissions: { and: [] } } } as never),
      ),
      await latchkey.verifyKey({ key: `${key}${"x".repeat(600)}` }),
      await rejectionOf(latchkey.createKey({ apiId: key, prefix: key, name: 7 } as never)),
      await rejectionOf(latchkey.getKey({ keyId: key })),
      await rejectionOf(latchkey.createRootKey({ permissions: [rootKey] })),
      await rejectionOf(latchkey.updateIdentity({ externalId: key, meta: { key: 1n } } as never)),
      await rejectionOf(latchkey.listKeys({ apiId, cursor: key })),
      await latchkey.verifyKey({ key: rootKey }),
    ];
    const hidden = [key, rootKey, PEPPER, VAULT_KEYS[0]].flatMap(traces);
    for (const answer of answers) {
      const text = everythingAbout(answer);
      for (const trace of hidden) expect(text).not.toContain(trace);
    }
  });

  test("of rotated and imported keys appear in the answer of rotateKey, and nowhere else", async () => {
    const outputs: unknown[] = [];
    const { latchkey } = open({
      vault: { current: "a", keys: { a: VAULT_KEYS[0] } },
      pepper: { current: "p", keys: { p: PEPPER } },
      onEvent: (event) => outputs.push(event),
    });
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const plaintext = "sk_live_0123456789abcdef0123456789abcdef";
    const { keyIds } = await latchkey.createKeys([{ apiId, plaintext, recoverable: true }]);
    const [keyId = ""] = keyIds;
    const next = await latchkey.rotateKey({ keyId, graceMs: 1_000 });
    outputs.push(
      keyIds,
      await latchkey.verifyKey({ key: plaintext }),
      await latchkey.verifyKey({ key: next.key }),
      await latchkey.listKeys({ apiId }),
      await latchkey.listAuditEvents(),
      await rejectionOf(latchkey.rotateKey({ keyId })),
      await rejectionOf(latchkey.rotateKey({ keyId: next.key, graceMs: plaintext } as never)),
      await rejectionOf(latchkey.createKeys([{ apiId, plaintext }])),
      await rejectionOf(latchkey.createKeys([{ apiId, plaintext, start: plaintext }])),
      await rejectionOf(latchkey.createKeys([{ apiId: plaintext, hash: plaintext } as never])),
      await rejectionOf(latchkey.createKeys(plaintext as never)),
      await rejectionOf(latchkey.limit({ namespace: plaintext, identifier: plaintext } as never)),
    );
    for (const trace of [plaintext, next.key].flatMap(traces))
      for (const answer of outputs) expect(everythingAbout(answer)).not.toContain(trace);
  });
});

describeOnEveryStore("secrets", (open) => {
  test("are not in the answer of a store that was tampered with", async () => {
    const context = open({ vault: { current: "a", keys: { a: VAULT_KEYS[0] } } });
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const first = await context.latchkey.createKey({ apiId, recoverable: true });
    const second = await context.latchkey.createKey({ apiId, recoverable: true });
    let stolen: unknown;
    await damageBody(context.store, "key", first.keyId, (body) => {
      stolen = body.sealedSecret;
      return body;
    });
    await damageBody(context.store, "key", second.keyId, (body) => {
      expect(body.sealedSecret).not.toBe(stolen);
      return { ...body, sealedSecret: stolen };
    });
    const error = await rejectionOf(
      context.latchkey.getKey({ keyId: second.keyId, decrypt: true }),
    );
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(error).toMatchObject({ code: "STORE_CORRUPT" });
    for (const trace of traces(first.key)) expect(everythingAbout(error)).not.toContain(trace);
  });
});
