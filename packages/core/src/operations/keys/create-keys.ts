import { z } from "zod";
import { type InputIssue, LatchkeyError } from "../../errors.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { EpochMs } from "../../time.js";
import { withCheckedMetas } from "../checked-meta.js";
import { type OperationContext, requireVault, transact } from "../context.js";
import { type ListSchema, orRequired, parseInput } from "../input.js";
import { References } from "../references.js";
import { insertKey, type KeyCredential, needForKey } from "./build.js";
import { type ImportedKey, type ImportKeyInput, importedKey, startOf } from "./import-input.js";

/** Most roles and permissions that one call names: its write, one step on every store, stays short. */
const MAX_GRANTS = 10_000;

const SIZE_ERROR = orRequired("must be a list of 1 to 100 keys");

/** Input of createKeys: 1 to 100 keys that another system issued, which name at most 10,000 roles and permissions in all. */
export type CreateKeysInput<Types extends LatchkeyTypes = DefaultTypes> =
  readonly ImportKeyInput<Types>[];

/** Keys that were taken over. */
export interface CreatedKeys {
  /** `key_…`, in the order given. */
  readonly keyIds: readonly string[];
}

/** Schema of the input of createKeys. */
export const createKeysInput: ListSchema<typeof importedKey> = z
  .array(importedKey, { error: SIZE_ERROR })
  .min(1, { error: SIZE_ERROR })
  .max(100, { error: SIZE_ERROR })
  .refine((imports) => grantsIn(imports) <= MAX_GRANTS, {
    error: `must not name more than ${MAX_GRANTS} roles and permissions in all`,
  });

/** @see KeyOperations.createKeys */
export async function createKeys(
  context: OperationContext,
  input: CreateKeysInput,
): Promise<CreatedKeys> {
  const now = context.now();
  const parsed = parseInput(createKeysInput, input, (raw) => importIssues(raw, now));
  const imports = await withCheckedMetas(context.keyMeta, parsed);
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
