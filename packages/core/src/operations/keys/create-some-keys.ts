import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { notLaterThanNow, parseInput } from "../input.js";
import { References } from "../references.js";
import { insertKey, needForKey } from "./build.js";
import {
  credentialOf,
  earlierHashes,
  type ImportCredential,
  secretField,
} from "./import-credential.js";
import { type ImportedKey, importedKey } from "./import-input.js";
import { importList } from "./import-list.js";

/** What became of one key of a list: `keyId` is null in a dry run; the paths of an error begin with the field. */
export type ImportedKeyResult =
  | { readonly keyId: string | null; readonly error?: undefined }
  | { readonly error: LatchkeyError };

/** The keys may be anything: each is judged by itself. */
const anyKeys = importList(z.unknown());

/** A key of the list that is well formed. */
interface Candidate {
  readonly index: number;
  readonly imported: ImportedKey;
  readonly credential: ImportCredential;
}

/**
 * Takes over those keys of a list that can be taken over, in one atomic write.
 *
 * @param dryRun - Whether nothing is written.
 * @throws LatchkeyError `BAD_REQUEST` where the list itself is wrong, and what the store throws: nothing was written then, unless
 * its `outcome` says otherwise.
 */
export async function createSomeKeys(
  context: OperationContext,
  input: unknown,
  dryRun: boolean,
): Promise<{ readonly results: readonly ImportedKeyResult[] }> {
  const now = context.now();
  const refused = new Map<number, LatchkeyError>();
  const candidates = parseInput(anyKeys, input).flatMap((key, index): Candidate[] => {
    try {
      const imported = parseInput(importedKey, key, (raw) =>
        notLaterThanNow(raw, "createdAt", now),
      );
      return [{ index, imported, credential: credentialOf(context, imported) }];
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      refused.set(index, error);
      return [];
    }
  });
  const { answer } = await transact(context, async (transaction, audit) => {
    const results: ImportedKeyResult[] = [];
    for (const [index, error] of refused) results[index] = { error };
    const references = new References(context, transaction, audit, now);
    for (const { imported } of candidates) needForKey(references, imported);
    await references.read();
    const known = await knownSecrets(context, candidates);
    const parts = { context, transaction, audit, references, now };
    for (const { index, imported, credential } of candidates) {
      const { apiId, roles = [], permissions = [] } = imported;
      const names = namesOf(context, imported, credential);
      const error = !references.hasApi(apiId)
        ? notFound("API")
        : (references.missingAmong(roles, permissions) ??
          (names.some((name) => known.has(name)) ? knownSecret(imported) : null));
      if (error !== null) {
        results[index] = { error };
        continue;
      }
      for (const name of names) known.add(name);
      if (!dryRun) insertKey(parts, imported, credential);
      results[index] = { keyId: dryRun ? null : credential.keyId };
    }
    return results;
  });
  return { results: answer };
}

/** All that a secret may be known by. */
function namesOf(
  context: OperationContext,
  imported: ImportedKey,
  { hash, importMarks }: ImportCredential,
): readonly string[] {
  const hashes = [hash, ...earlierHashes(context, imported)].map((value) => `hash ${value}`);
  return [...hashes, ...importMarks.map((value) => `importMark ${value}`)];
}

/** Those names of the secrets that keys of the workspace have. */
async function knownSecrets(
  context: OperationContext,
  candidates: readonly Candidate[],
): Promise<Set<string>> {
  const names = candidates.flatMap(({ imported, credential }) =>
    namesOf(context, imported, credential),
  );
  if (names.length === 0) return new Set();
  const { found } = await context.store.read(
    context.workspaceId,
    names.map((name) => {
      const [index, value] = name.split(" ") as [string, string];
      return { kind: "key", index, value };
    }),
  );
  return new Set(names.filter((_name, place) => found[place] !== null));
}

function knownSecret(imported: ImportedKey): LatchkeyError {
  const field = secretField(imported);
  return new LatchkeyError("CONFLICT", `"${field}" is that of a key which exists already`, {
    reason: "taken",
    details: { field },
  });
}
