import { z } from "zod";
import { type InputIssue, LatchkeyError } from "../../errors.js";
import type { EpochMs } from "../../time.js";
import { type OperationContext, requireVault, transact } from "../context.js";
import { orRequired, parseInput } from "../input.js";
import { References } from "../references.js";
import { insertKey, type KeyCredential, needForKey } from "./build.js";
import { type ImportedKey, importedKey, startOf } from "./import-input.js";

/** Most roles and permissions that one call names: its write, one step on every store, stays short. */
const MAX_GRANTS = 10_000;

const SIZE_ERROR = orRequired("must be a list of 1 to 100 keys");

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
export const createKeysInput = z
  .array(importedKey, { error: SIZE_ERROR })
  .min(1, { error: SIZE_ERROR })
  .max(100, { error: SIZE_ERROR })
  .refine((imports) => grantsIn(imports) <= MAX_GRANTS, {
    error: `must not name more than ${MAX_GRANTS} roles and permissions in all`,
  });

/**
 * Takes over keys that another system issued, so that their secrets verify here: all of them in one atomic write, or none.
 *
 * A secret that comes as its hash verifies whether or not a pepper is configured; one that comes as plaintext is stored
 * under the pepper, like a new key. Secrets with little randomness are not made any better: the hash is a fast one.
 *
 * @returns The ids, in the order given.
 * @throws LatchkeyError `BAD_REQUEST` with paths that begin with the place in the list (`3.hash.value`), also for a plaintext
 * that could never verify; `NOT_FOUND` for an unknown API; `CONFLICT` for a secret that exists already, in the workspace or
 * twice in the list; `PRECONDITION_FAILED` naming every role and permission that does not exist, and for `recoverable`
 * without a vault. Nothing is written then.
 */
export async function createKeys(
  context: OperationContext,
  input: z.input<typeof createKeysInput>,
): Promise<{ readonly keyIds: readonly string[] }> {
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

function grantsIn(imports: readonly ImportedKey[]): number {
  let count = 0;
  for (const { roles = [], permissions = [] } of imports)
    count += roles.length + permissions.length;
  return count;
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

function credentialOf(context: OperationContext, imported: ImportedKey): KeyCredential {
  const { workspaceId, hasher } = context;
  const { hash, plaintext, recoverable } = imported;
  const keyId = context.newId("key");
  return {
    keyId,
    // The schema has it that one of the two is there.
    hash: hash ?? hasher.hash(plaintext as string),
    importMarks: hasher.importMarks(hash ?? hasher.plainHash(plaintext as string)),
    start: startOf(imported),
    sealedSecret: recoverable
      ? requireVault(context).seal(plaintext as string, { workspaceId, keyId })
      : null,
  };
}

/**
 * Refuses a plaintext whose secret is known under another hash than the one that is stored: that of an earlier pepper, or the
 * plain one. Imports of this latchkey meet at their import marks, also where two of them race.
 */
async function refuseKnownSecrets(
  { hasher, store, workspaceId }: OperationContext,
  imports: readonly ImportedKey[],
): Promise<void> {
  const wants = imports.flatMap(({ plaintext }, index) =>
    plaintext === undefined
      ? []
      : hasher
          .candidates(plaintext)
          .slice(1)
          .map((hash) => ({ hash, index })),
  );
  if (wants.length === 0) return;
  const { found } = await store.read(
    workspaceId,
    wants.map(({ hash }) => ({ kind: "key", index: "hash", value: hash })),
  );
  const known = wants.find((_want, place) => found[place] !== null);
  if (known !== undefined) throw knownSecret(imports, known.index);
}

function knownSecret(imports: readonly ImportedKey[], index: number): LatchkeyError {
  const field = imports[index]?.plaintext === undefined ? "hash" : "plaintext";
  return new LatchkeyError(
    "CONFLICT",
    `"${index}.${field}" is that of a key which exists already; nothing was written`,
    { reason: "taken", details: { field: `${index}.${field}` } },
  );
}
