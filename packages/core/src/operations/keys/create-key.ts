import { z } from "zod";
import { announce, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { BYTE_LENGTH, formatSecret, secretStart } from "../../secrets/format.js";
import { missingGrants, notFound, type OperationContext, requireVault } from "../context.js";
import { evenWithIssues, expiryIssues, parseInput, prefix, wholeNumber } from "../input.js";
import { type CreatedKey, describeNewKey } from "./build.js";
import { addSettingsIssues, keySettingsFields } from "./settings.js";

/**
 * Input of createKey. `expires` in Unix epoch ms and later than now; `remaining` and all amounts >= 1;
 * `byteLength` 16 to 255; `refill` needs `remaining`; `externalId` wins over the deprecated `ownerId`. `ratelimit` is the
 * limit named `default`, `ratelimits` are further ones. With `usesFrom: "identity"` the key draws from the uses that all
 * keys of its identity share, and has none of its own.
 */
export const createKeyInput = z
  .strictObject({
    ...keySettingsFields,
    prefix: prefix.optional(),
    byteLength: wholeNumber(BYTE_LENGTH.min, BYTE_LENGTH.max).default(BYTE_LENGTH.default),
  })
  .superRefine(addSettingsIssues, evenWithIssues);

/**
 * Issues a key: record, identity on demand, links and counters in one atomic write.
 *
 * @throws LatchkeyError `NOT_FOUND` for an unknown API, `PRECONDITION_FAILED` naming every role and permission that
 * does not exist, or when `recoverable` is asked for without a vault. Nothing is written then.
 */
export async function createKey(
  context: OperationContext,
  input: z.input<typeof createKeyInput>,
): Promise<CreatedKey> {
  const now = context.now();
  const parsed = parseInput(createKeyInput, input, (raw) => expiryIssues(raw, now));
  const { workspaceId } = context;
  const keyId = context.newId("key");
  const key = formatSecret(parsed.prefix ?? "", context.random(parsed.byteLength));
  const mark = {
    keyId,
    hash: context.hasher.hash(key),
    start: secretStart(key),
    sealedSecret: parsed.recoverable
      ? requireVault(context).seal(key, { workspaceId, keyId })
      : null,
  };
  const { newKey, changes } = describeNewKey(context, parsed, mark, now);
  const result = await context.store.insertKeys([newKey], toLog(context, changes));
  switch (result.kind) {
    case "inserted":
      announce(context, changes, result.created);
      return { keyId, key };
    case "api-not-found":
      throw notFound("API");
    case "missing-grants":
      throw missingGrants(result);
    case "hash-taken":
      throw new LatchkeyError(
        "INTERNAL_SERVER_ERROR",
        '"random" repeated itself; no key was issued',
      );
    default:
      return result satisfies never;
  }
}
