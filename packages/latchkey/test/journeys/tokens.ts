import { expect } from "vitest";
import { expectRefused, VAULT_KEYS } from "../test-context.js";
import type { Journey } from "./journey.js";

/** exchangeKey, jwks. */
export const TOKENS: Journey = {
  resource: "tokens",
  title:
    "stand for a key, are signed with a published key, and are not given for one that is revoked",
  async run(context) {
    const tokens = { current: "t", keys: { t: VAULT_KEYS[1] } };
    const { latchkey } = context;
    const [issuer, other] = [context.another({ tokens }), context.another({ tokens })];
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { key, keyId } = await latchkey.createKey({ apiId });
    const question = { key, audience: "https://tides.example" };
    const verdict = await issuer.exchangeKey(question);
    expect(verdict).toMatchObject({ code: "VALID", keyId });
    const [header = ""] = ("token" in verdict ? verdict.token : "").split(".");
    const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
    const published = await other.jwks();
    expect(published.keys.map((one) => one.kid)).toContain(kid);
    await latchkey.deleteKey({ keyId });
    const refused = await other.exchangeKey(question);
    expect(refused.code).toBe("NOT_FOUND");
    expect(refused).not.toHaveProperty("token");
    await expectRefused("BAD_REQUEST", [issuer.exchangeKey({ ...question, audience: "" })]);
    await expectRefused("PRECONDITION_FAILED", [latchkey.exchangeKey(question), latchkey.jwks()]);
  },
};
