import { z } from "zod";
import { listOf, shared } from "./shared.js";

const tokenKey = shared(
  "TokenKey",
  z.strictObject({
    kty: z.literal("OKP"),
    crv: z.literal("Ed25519"),
    x: z.string().describe("The public key in base64url."),
    kid: z.string().describe("Id of the key, as in the header of a token."),
    alg: z.literal("EdDSA"),
    use: z.literal("sig"),
  }),
);

/** Response of jwks.json. */
export const tokenKeys = z.strictObject({ keys: listOf(tokenKey) });
