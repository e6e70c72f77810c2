import { z } from "zod";
import { type InputIssue, LatchkeyError } from "../../errors.js";
import type { EpochMs } from "../../time.js";
import { type OperationContext, transact } from "../context.js";
import { flag, parseInput } from "../input.js";
import { References } from "../references.js";
import { insertKey, type KeyCredential, needForKey } from "./build.js";
import { createSomeKeys, type ImportedKeyResult } from "./create-some-keys.js";
import { credentialOf, earlierHashes, secretField } from "./import-credential.js";
import { type ImportedKey, importedKey } from "./import-input.js";
import { importList } from "./import-list.js";

/**
 * Input of createKeys: a list of 1 to 100 keys that another system issued. Each has `plaintext` (1 to 512 printable ASCII
 * characters) or `hash`, the SHA-256 of the whole secret (`value` and `variant`: `sha256_base64`, 44 characters with padding,
 * `sha256_base64url`, 43 without, or `sha256_hex`, 64 digits), and the fields of createKey but `byteLength`. All keys together
 * name at most 10,000 roles and permissions.
 *
 * `remaining` may be 0, and `expires` may have passed. `createdAt` says when the other system issued the key (Unix epoch ms, not
 * later than now). `start`, 0 to 32 characters, is what is shown of the secret: it is derived from a plaintext unless given, and
 * leaves 112 bits unknown or is a mere prefix.
 */
export const createKeysInput = importList(importedKey);

/** Options of createKeys: see {@link createKeys}. A misspelt `dryRun` must not write. */
const createKeysOptions = z.strictObject({
  partial: z.literal(true, { error: "must be true" }),
  dryRun: flag.default(false),
});

/** How createKeys takes over what it can. */
export type CreateKeysOptions = z.input<typeof createKeysOptions>;

/** What createKeys answers where all keys were taken over. */
export interface CreatedKeys {
  /** In the order given. */
  readonly keyIds: readonly string[];
}

/** What createKeys answers with `partial`. */
export interface PartlyCreatedKeys {
  /** One for each key, in the order given. */
  readonly results: readonly ImportedKeyResult[];
}

/**
 * Takes over keys that another system issued, so that their secrets verify here: all of them in one atomic write, or none.
 *
 * A secret that comes as its hash verifies whether or not a pepper is configured; one that comes as plaintext is stored
 * under the pepper, like a new key. Secrets with little randomness are not made any better: the hash is a fast one.
 *
 * With `partial: true` those that are refused do not stop the others, and the answer says of each what became of it; with
 * `dryRun: true` beside it what would become of it, and nothing is written.
 *
 * @throws LatchkeyError `BAD_REQUEST` with paths that begin with the place in the list (`3.hash.value`), also for a plaintext
 * that could never verify; `NOT_FOUND` for an unknown API; `CONFLICT` for a secret that exists already, in the workspace or
 * twice in the list; `PRECONDITION_FAILED` naming every role and permission that does not exist, and for `recoverable`
 * without a vault. Nothing is written then. With `partial`, only for a list or options that are wrong themselves.
 */
export async function createKeys(
  context: OperationContext,
  input: z.input<typeof createKeysInput>,
  options?: CreateKeysOptions,
): Promise<CreatedKeys | PartlyCreatedKeys> {
  if (options !== undefined) {
    const { dryRun } = parseInput(createKeysOptions, options);
    return createSomeKeys(context, input, dryRun);
  }
  const now = context.now();
  const imports = parseInput(createKeysInput, input, (raw) => importIssues(raw, now));
  const credentials = imports.map((imported) => credentialOf(context, imported));
  await transact(context, async (transaction, audit) => {
    const references = new References(context, transaction, audit, now);
    for (const imported of imports) needForKey(references, imported);
    await references.read();
    const unknownApi = imports.findIndex(({ apiId }) => !references.hasApi(apiId));
    if (unknownApi >= 0) throw new LatchkeyError("NOT_FOUND", `no such API: "${unknownApi}.apiId"`);
    await refuseKnownSecrets(context, imports);
    const parts = { context, transaction, audit, references, now };
    for (const [index, imported] of imports.entries())
      insertKey(parts, imported, credentials[index] as KeyCredential, () =>
        knownSecret(imports, index),
      );
    references.refuseMissing();
  });
  return { keyIds: credentials.map(({ keyId }) => keyId) };
}

/** The issues of keys that were created later than now, of every key of a list. */
export function importIssues(imports: unknown, now: EpochMs): readonly InputIssue[] {
  if (!Array.isArray(imports)) return [];
  return imports.flatMap((imported: unknown, index) => {
    const { createdAt } = (imported ?? {}) as { readonly createdAt?: unknown };
    return typeof createdAt === "number" && createdAt > now
      ? [{ path: `${index}.createdAt`, message: "must not be later than now" }]
      : [];
  });
}

/**
 * Refuses a plaintext whose secret is known under another hash than the one that is stored: that of an earlier pepper, or the
 * plain one. Imports of this latchkey meet at their import marks, also where two of them race.
 */
async function refuseKnownSecrets(
  context: OperationContext,
  imports: readonly ImportedKey[],
): Promise<void> {
  const wants = imports.flatMap((imported, index) =>
    earlierHashes(context, imported).map((hash) => ({ hash, index })),
  );
  if (wants.length === 0) return;
  const { found } = await context.store.read(
    context.workspaceId,
    wants.map(({ hash }) => ({ kind: "key", index: "hash", value: hash })),
  );
  const known = wants.find((_want, place) => found[place] !== null);
  if (known !== undefined) throw knownSecret(imports, known.index);
}

function knownSecret(imports: readonly ImportedKey[], index: number): LatchkeyError {
  const field = `${index}.${secretField(imports[index] as ImportedKey)}`;
  return new LatchkeyError(
    "CONFLICT",
    `"${field}" is that of a key which exists already; nothing was written`,
    { reason: "taken", details: { field } },
  );
}
