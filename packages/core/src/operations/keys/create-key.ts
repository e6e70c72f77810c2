import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import { withCheckedMeta } from "../checked-meta.js";
import {
  notFound,
  type OperationContext,
  randomRepeated,
  requireVault,
  transact,
} from "../context.js";
import { evenWithIssues, parseInput, prefix, wholeNumber } from "../input.js";
import { References } from "../references.js";
import { expiryIssues } from "../time-input.js";
import { type CreatedKey, insertKey, needForKey } from "./build.js";
import { addSettingsIssues, type KeySettingsInput, keySettingsFields } from "./settings.js";

/** Input of createKey. */
export interface CreateKeyInput<Types extends LatchkeyTypes = DefaultTypes>
  extends KeySettingsInput<Types> {
  /** What stands before the `_` of the secret, so that people and scanners recognise it: at most 16 of `A-Z a-z 0-9 _ -`; none if empty. */
  readonly prefix?: string | undefined;
  /** Random bytes of the secret: 16 to 255, 16 unless given. */
  readonly byteLength?: number | undefined;
}

/** Schema of the input of createKey. */
export const createKeyInput = z
  .strictObject({
    ...keySettingsFields,
    prefix: prefix.optional(),
    byteLength: wholeNumber(BYTE_LENGTH.min, BYTE_LENGTH.max).default(BYTE_LENGTH.default),
  })
  .superRefine(addSettingsIssues, evenWithIssues);

/** @see KeyOperations.createKey */
export async function createKey(
  context: OperationContext,
  input: CreateKeyInput,
): Promise<CreatedKey> {
  const now = context.now();
  const parsed = parseInput(createKeyInput, input, (raw) => expiryIssues(raw, now));
  const settings = await withCheckedMeta(context.keyMeta, parsed);
  const { workspaceId } = context;
  const keyId = context.newId("key");
  const key = formatSecret(settings.prefix ?? "", context.random(settings.byteLength));
  const credential = {
    keyId,
    hash: context.hasher.hash(key),
    start: secretStart(key, settings.byteLength),
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
