import { z } from "zod";
import { announce, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { missingGrants, type OperationContext, requireVault } from "../context.js";
import { expiryIssues, orRequired, parseInput } from "../input.js";
import { describeNewKey, type KeyMark } from "./build.js";
import { type ImportedKey, importedKey, startOf } from "./import-input.js";

/** Most roles and permissions that one call names: its write, one step on every store, stays short. */
const MAX_GRANTS = 10_000;

const SIZE_ERROR = orRequired("must be a list of 1 to 100 keys");

/**
 * Input of createKeys: a list of 1 to 100 keys that another system issued. Each has `hash` (`value` and `variant`:
 * `sha256_base64`, 44 characters with padding, or `sha256_hex`, 64 digits, of the SHA-256 of the whole secret) or
 * `plaintext` (1 to 512 printable ASCII characters), and the fields of createKey but `byteLength`.
 * All keys together name at most 10,000 roles and permissions. `remaining` may be 0. `start`, 0 to 32 characters, is what is shown of the secret: of a plaintext it is derived unless
 * given, and leaves 112 bits unknown or is a mere prefix.
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
  await refuseKnownSecrets(context, imports);
  const described = imports.map((imported) =>
    describeNewKey(context, imported, markOf(context, imported), now),
  );
  const changes = described.flatMap(({ changes }) => changes);
  const newKeys = described.map(({ newKey }) => newKey);
  const result = await context.store.insertKeys(newKeys, toLog(context, changes));
  switch (result.kind) {
    case "inserted":
      announce(context, changes, result.created);
      return { keyIds: newKeys.map(({ key }) => key.id) };
    case "api-not-found":
      throw new LatchkeyError("NOT_FOUND", `no such API: "${result.index}.apiId"`);
    case "missing-grants":
      throw missingGrants(result);
    case "hash-taken":
      throw knownSecret(imports, result.index);
    default:
      return result satisfies never;
  }
}

function grantsIn(imports: readonly ImportedKey[]): number {
  let count = 0;
  for (const { roles = [], permissions = [] } of imports)
    count += roles.length + permissions.length;
  return count;
}

/** The issues of instants that have passed, of every key of a list. */
export function importIssues(
  imports: unknown,
  now: number,
): readonly { readonly path: string; readonly message: string }[] {
  if (!Array.isArray(imports)) return [];
  return imports.flatMap((imported: unknown, index) =>
    typeof imported === "object" && imported !== null
      ? expiryIssues(imported, now).map(({ path, message }) => ({
          path: `${index}.${path}`,
          message,
        }))
      : [],
  );
}

function markOf(context: OperationContext, imported: ImportedKey): KeyMark {
  const { workspaceId } = context;
  const { hash, plaintext, recoverable } = imported;
  const keyId = context.newId("key");
  return {
    keyId,
    // The schema has it that one of the two is there.
    hash: hash ?? context.hasher.hash(plaintext as string),
    start: startOf(imported),
    sealedSecret: recoverable
      ? requireVault(context).seal(plaintext as string, { workspaceId, keyId })
      : null,
  };
}

/**
 * Refuses a plaintext whose secret is known under another hash than the one it is to be stored under: that of an earlier
 * pepper, or the plain one. The store compares only the hashes that are written.
 */
async function refuseKnownSecrets(
  { hasher, store, workspaceId }: OperationContext,
  imports: readonly ImportedKey[],
): Promise<void> {
  const given = new Set(imports.map(({ hash }) => hash));
  for (const [index, { plaintext }] of imports.entries()) {
    if (plaintext === undefined) continue;
    for (const hash of hasher.candidates(plaintext).slice(1)) {
      const isKnown = given.has(hash) || (await store.findKey(hash, workspaceId)) !== null;
      if (isKnown) throw knownSecret(imports, index);
    }
  }
}

function knownSecret(imports: readonly ImportedKey[], index: number): LatchkeyError {
  const field = imports[index]?.plaintext === undefined ? "hash" : "plaintext";
  return new LatchkeyError(
    "CONFLICT",
    `"${index}.${field}" is that of a key which exists already; nothing was written`,
  );
}
