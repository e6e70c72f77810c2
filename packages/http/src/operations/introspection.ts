import { LatchkeyError } from "@latchkey/core";
import { z } from "zod";
import { onApi } from "../auth/required-permissions.js";
import { introspection } from "../response-schemas/introspection.js";
import { KEY_ID, SECRET, START } from "./examples.js";
import { defineHttpOnly, type Operation } from "./operation.js";

const MISSING = "must be a string of at least 1 character";

/** Without a maximum length: a token of another system is not an error. */
const input = z.strictObject({
  token: z.string({ error: MISSING }).min(1, { error: MISSING }).describe("The secret of the key."),
  token_type_hint: z
    .string({ error: "must be a string" })
    .optional()
    .describe("Accepted, without effect."),
});

/** Token introspection by RFC 7662, for gateways and other systems that know OAuth, but not latchkey. */
export const INTROSPECTION: readonly Operation[] = [
  defineHttpOnly("keys.introspect", {
    isVerification: true,
    summary: "Introspect a key (OAuth 2.0)",
    description:
      "RFC 7662, for systems that support it: the body is a form. Counts and charges like `keys.verifyKey` with only the secret. " +
      "Every verdict except `VALID` is `active: false`, without a reason; so is that on a key of an API that admits only certain " +
      "addresses, because the form has no address.",
    isForm: true,
    input,
    response: introspection,
    example: {
      input: { token: SECRET },
      response: {
        active: true,
        scope: "docs.read docs.write",
        client_id: KEY_ID,
        sub: "user_1",
        exp: Math.floor(START / 1_000) + 3_600,
        iat: Math.floor(START / 1_000),
        token_type: "api_key",
      },
    },
    requiredPermissions: () => onApi(["verify_key"], { kind: "any-api" }),
    run: async ({ latchkey, verifyScope }, { token }) => {
      const verdict = await latchkey.verifyKey({ key: token }, verifyScope);
      if (verdict.code !== "VALID") return { active: false as const };
      const { keyId, permissions, identity, expires } = verdict;
      const record = await latchkey.getKey({ keyId }).catch(nullIfGone);
      if (record === null) return { active: false as const };
      return {
        active: true as const,
        ...(permissions.length > 0 && { scope: permissions.join(" ") }),
        client_id: keyId,
        ...(identity !== undefined && { sub: identity.externalId }),
        ...(expires !== undefined && { exp: inSeconds(expires) }),
        iat: inSeconds(record.createdAt),
        token_type: "api_key" as const,
      };
    },
  }),
];

/** The key may have been deleted since it was verified. */
function nullIfGone(error: unknown): null {
  if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return null;
  throw error;
}

function inSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
