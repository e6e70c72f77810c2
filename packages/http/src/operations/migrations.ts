import { importIssues } from "@latchkey/core";
import { allOf, onApiById } from "../auth/required-permissions.js";
import { createdKeys } from "../response-schemas/keys.js";
import { API_ID, KEY_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Keys that were issued elsewhere. */
export const MIGRATIONS: readonly Operation[] = [
  defineOperation("migrations.createKeys", {
    summary: "Import keys that were issued elsewhere",
    description:
      "The body is an array of 1 to 100 keys, by default up to 1 MiB long. Each has `hash`, the SHA-256 of its whole " +
      "secret, or `plaintext`, and the fields of `keys.createKey` except `byteLength`. `remaining` may be 0, and " +
      "`expires` in the past. All are written, or none: a known secret is a 409, and a plaintext that could never " +
      "verify is a 400. Needs the permission for each API, and `encrypt_key` for those with a `recoverable` key.",
    acceptsList: true,
    isBulk: true,
    extraIssues: importIssues,
    response: createdKeys,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: [
        {
          apiId: API_ID,
          hash: {
            value: "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            variant: "sha256_base64",
          },
          start: "sk_live_",
          externalId: "user_1",
        },
      ],
      response: { keyIds: [KEY_ID] },
    },
    requiredPermissions: (keys) =>
      allOf(
        keys.map(({ apiId, recoverable }) =>
          recoverable
            ? onApiById(apiId, "create_key", "encrypt_key")
            : onApiById(apiId, "create_key"),
        ),
      ),
  }),
];
