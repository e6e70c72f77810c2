import { createHash } from "node:crypto";
import { type TestContext, VAULT_KEYS } from "./test-context.js";

/** SHA-256 of a secret. */
export const digest = (secret: string) => createHash("sha256").update(secret).digest();
/** The hash of a secret as another system stores it, in base64. */
export const base64 = (secret: string) =>
  ({ value: digest(secret).toString("base64"), variant: "sha256_base64" }) as const;
/** The same in base64url, without padding. */
export const base64url = (secret: string) =>
  ({ value: digest(secret).toString("base64url"), variant: "sha256_base64url" }) as const;
/** The same in hexadecimal. */
export const hex = (secret: string) =>
  ({ value: digest(secret).toString("hex"), variant: "sha256_hex" }) as const;

/** A secret of another system: a prefix and 32 hexadecimal digits. */
export const foreign = (at: number) =>
  `sk_live_${at.toString(16).padStart(32, "0123456789abcdef")}`;

/** A ring of peppers. The first one is current. */
export const pepperOf = (id: string, ...others: string[]) => ({
  current: id,
  keys: Object.fromEntries(
    [id, ...others].map((name) => [name, VAULT_KEYS[name === "p1" ? 0 : 1]]),
  ),
});

/** Creates an API. */
export async function openApi({ latchkey }: TestContext) {
  return (await latchkey.createApi({ name: "tide tables" })).apiId;
}

/** Everything that changes if something is written. */
export async function written({ latchkey }: TestContext, apiId: string) {
  const log = await latchkey.listAuditEvents();
  return [
    (await latchkey.listKeys({ apiId })).total,
    (await latchkey.listIdentities()).total,
    log.events.length,
  ];
}
