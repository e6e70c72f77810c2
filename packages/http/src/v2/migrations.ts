import { z } from "zod";
import { onApiById } from "../auth/required-permissions.js";
import { API_ID, KEY_ID } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { listOf } from "../response-schemas/shared.js";
import { dataBody } from "./bodies.js";
import { importedKey, newKey, pick, ratelimits, usesOf } from "./fields.js";
import { defineV2 } from "./operation.js";

/** How a SHA-256 is written, by its length. */
const VARIANTS = new Map([
  [64, "sha256_hex"],
  [44, "sha256_base64"],
  [43, "sha256_base64url"],
] as const);

const HASH_ERROR =
  "must be a SHA-256: 64 digits in hexadecimal, 44 characters in base64, or 43 in base64url without padding";

const hash = z
  .string({ error: HASH_ERROR })
  .regex(
    // The last character carries four bits and two zeros.
    /^(?:[0-9A-Fa-f]{64}|[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=|[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/,
    { error: HASH_ERROR },
  )
  .describe("SHA-256 of the whole secret, in hexadecimal, base64 or base64url.");

const COUNT_ERROR = "must be a list of 1 to 100 keys";
const HASH = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

const row = z.strictObject({
  hash,
  ...pick(importedKey, "name", "externalId", "meta", "roles", "permissions", "expires", "enabled"),
  credits: z
    .strictObject({
      remaining: importedKey.remaining.unwrap().nullable(),
      refill: importedKey.refill,
    })
    .describe(
      "Uses that the key has left; unlimited if `remaining` is `null`, or without `credits`.",
    )
    .optional(),
  ratelimits,
});

/** Keys that were issued elsewhere. */
export const MIGRATIONS: readonly Operation[] = [
  defineV2("keys.migrateKeys", {
    operation: "createKeys",
    description:
      "1 to 100 keys by the SHA-256 of their secrets; the body may be 16 times as long as others. Those that exist " +
      "already are listed in `failed`, as all are if the request is repeated; the others are all written, or none.",
    isBulk: true,
    isRepeatable: false,
    input: z.strictObject({
      migrationId: newKey.name.unwrap().describe("Accepted, without effect."),
      apiId: newKey.apiId,
      keys: z
        .array(row, { error: COUNT_ERROR })
        .min(1, { error: COUNT_ERROR })
        .max(100, { error: COUNT_ERROR }),
    }),
    response: dataBody(
      z.strictObject({
        migrated: listOf(z.strictObject({ hash: z.string(), keyId: z.string() })),
        failed: listOf(z.string()).describe("Hashes of keys that exist already."),
      }),
    ),
    example: {
      input: {
        migrationId: "nightly",
        apiId: API_ID,
        keys: [{ hash: HASH, externalId: "user_1" }],
      },
      response: { data: { migrated: [{ hash: HASH, keyId: KEY_ID }], failed: [] } },
    },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "create_key"),
    pathHere: (path) => `keys.${path.replace(/^(\d+)\.(?=(?:remaining|refill)\b)/, "$1.credits.")}`,
    run: async ({ carryOut, latchkey }, { apiId, keys }) => {
      const imports = keys.map((one) => toImport(apiId, one));
      const { results } = await latchkey.createKeys(imports, { partial: true, dryRun: true });
      const isNew = (_: unknown, index: number) => results[index]?.error?.code !== "CONFLICT";
      const pending = keys.filter(isNew);
      const { keyIds } =
        pending.length === 0 ? { keyIds: [] } : await carryOut(imports.filter(isNew));
      const migrated = pending.map(({ hash }, at) => ({ hash, keyId: keyIds[at] as string }));
      const failed = keys.filter((one) => !pending.includes(one)).map(({ hash }) => hash);
      return { data: { migrated, failed } };
    },
  }),
];

function toImport(apiId: string, { hash: value, credits, ...settings }: z.input<typeof row>) {
  const variant = VARIANTS.get(value.length as 64) ?? "sha256_hex";
  return { apiId, ...settings, ...usesOf(credits), hash: { value, variant } };
}
