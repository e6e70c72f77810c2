import { createHandler } from "@latchkey/http";
import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "./every-store.js";
import { HOUR_MS, issue, NOON, type TestContext } from "./test-context.js";

/** Calls over HTTP, as a gateway does. */
async function openGateway({ another }: TestContext) {
  const latchkey = another();
  const handler = createHandler({ latchkey });
  const { key: root } = await latchkey.createRootKey({ permissions: ["api.*.verify_key"] });
  return async (token: string) => {
    const body = new URLSearchParams({ token, token_type_hint: "access_token" });
    const headers = { authorization: `Bearer ${root}` };
    const url = "http://keys.test/v1/keys.introspect";
    const response = await handler(new Request(url, { method: "POST", headers, body }));
    expect(response.status).toBe(200);
    return response.json();
  };
}

describeOnMemoryOrAll("introspection of a key", (open) => {
  test("describes and charges a VALID key, and says nothing about any other", async () => {
    const context = open();
    const { latchkey } = context;
    const ask = await openGateway(context);
    const fields = { externalId: "user_1", expires: NOON + HOUR_MS, remaining: 2 };
    const { keyId, key } = await issue(context, fields);
    const known = {
      active: true,
      client_id: keyId,
      sub: "user_1",
      iat: NOON / 1_000,
      exp: (NOON + HOUR_MS) / 1_000,
      token_type: "api_key",
    };
    expect(await ask(key)).toEqual(known);
    await latchkey.updateKey({ keyId, enabled: false });
    expect(await ask(key)).toEqual({ active: false });
    await latchkey.updateKey({ keyId, enabled: true });
    expect(await ask(key)).toEqual(known);
    expect(await ask(key)).toEqual({ active: false });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 0 });
    await latchkey.updateRemaining({ keyId, op: "set", value: null });
    expect(await ask(key)).toEqual(known);
    context.advance(HOUR_MS);
    expect(await ask(key)).toEqual({ active: false });
    await latchkey.deleteKey({ keyId });
    expect(await ask(key)).toEqual({ active: false });
  });
});
