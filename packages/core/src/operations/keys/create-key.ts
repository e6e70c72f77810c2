import { z } from "zod";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import {
  notFound,
  type OperationContext,
  randomRepeated,
  requireVault,
  transact,
} from "../context.js";
import { evenWithIssues, expiryIssues, parseInput, prefix, wholeNumber } from "../input.js";
import { References } from "../references.js";
import { type CreatedKey, insertKey, needForKey } from "./build.js";
import { addSettingsIssues, keySettingsFields } from "./settings.js";

/**
 * Input of createKey. `expires` in Unix epoch ms and later than now; `remaining` and all amounts >= 1;
 * `byteLength` 16 to 255; `refill` needs `remaining`; `externalId` wins over the deprecated `ownerId`. `ratelimit` is the
 * limit named `default`, `ratelimits` are further ones. With `usesFrom: "identity"` the key takes the uses that all
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
 * Issues a key: its record, its counters, and its identity where there is none yet, in one transaction.
 *
 * @throws LatchkeyError `NOT_FOUND` for an unknown API, `PRECONDITION_FAILED` naming every role and permission that
 * does not exist, or when `recoverable` is given without a vault. Nothing is written then.
 */
export async function createKey(
  context: OperationContext,
  input: z.input<typeof createKeyInput>,
): Promise<CreatedKey> {
  const now = context.now();
  const settings = parseInput(createKeyInput, input, (raw) => expiryIssues(raw, now));
  const { workspaceId } = context;
  const keyId = context.newId("key");
  const key = formatSecret(settings.prefix ?? "", context.random(settings.byteLength));
  const credential = {
    keyId,
    hash: context.hasher.hash(key),
    start: secretStart(key),
    sealedSecret: settings.recoverable
      ? requireVault(context).seal(key, { workspaceId, keyId })
      : null,
  };
  await transact(context, async (transaction, audit) => {
    const references = new References(context, transaction, audit, now);
    needForKey(references, settings);
    await references.read();
    if (!references.hasApi(settings.apiId)) throw notFound("API");
    const parts = { context, transaction, audit, references, now };
    insertKey(parts, settings, credential, () => randomRepeated("no key was issued"));
    references.refuseMissing();
  });
  return { keyId, key };
}
