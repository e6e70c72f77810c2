import { NO_PERMISSIONS } from "../auth/required-permissions.js";
import { tokenKeys } from "../response-schemas/tokens.js";
import { exchanged } from "../response-schemas/verdict.js";
import { API_ID, KEY_ID, REQUEST_ID, SECRET, START } from "./examples.js";
import { defineHttpOnly, type Operation } from "./operation.js";
import { defineVerification } from "./verification.js";

/** Short-lived tokens in place of keys, and the public keys to verify them with. */
export const TOKENS: readonly Operation[] = [
  defineVerification("keys.exchangeKey", {
    summary: "Verify a key and get a short-lived token",
    description:
      "Like `keys.verifyKey`; a `VALID` verdict contains a JWT, signed with EdDSA, which others verify with `/v1/jwks.json` without a " +
      "call. It cannot be revoked: when the key is revoked, its tokens stay valid until they expire. A server without keys for tokens " +
      "responds with a 412, and takes nothing.",
    action: "verify_key",
    response: exchanged,
    errors: ["CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { key: SECRET, audience: "https://tides.example", ttl: "5m" },
      response: {
        valid: true,
        code: "VALID",
        requestId: REQUEST_ID,
        keyId: KEY_ID,
        apiId: API_ID,
        enabled: true,
        permissions: ["docs.read"],
        roles: [],
        token: "eyJhbGciOiJFZERTQSIsImtpZCI6IjEiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOi…",
        tokenExpiresAt: START + 300_000,
      },
    },
    run: ({ latchkey, verifyScope }, input) => latchkey.exchangeKey(input, verifyScope),
  }),
  defineHttpOnly("jwks.json", {
    method: "GET",
    summary: "List the public keys that verify tokens",
    description:
      "Open to everyone, and may be cached for five minutes: a JWK Set (RFC 7517). Without keys for tokens, a 412.",
    response: tokenKeys,
    errors: ["PRECONDITION_FAILED"],
    example: {
      input: {},
      response: {
        keys: [
          {
            kty: "OKP",
            crv: "Ed25519",
            x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            kid: "1",
            alg: "EdDSA",
            use: "sig",
          },
        ],
      },
    },
    isPublic: true,
    maxAgeSeconds: 300,
    requiredPermissions: () => NO_PERMISSIONS,
    run: ({ latchkey }) => latchkey.jwks(),
  }),
];
