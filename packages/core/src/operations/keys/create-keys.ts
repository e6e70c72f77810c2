import { z } from "zod";
import { type InputIssue, LatchkeyError, taken } from "../../errors.js";
import { parseInput } from "../../lib/parse-input.js";
import type { ApiRecord } from "../../records/api.js";
import type { EpochMs } from "../../time.js";
import { keyRulesOf } from "../apis/key-rules.js";
import { withCheckedMeta, withCheckedMetas } from "../checked-meta.js";
import { type OperationContext, requireVault, transact } from "../context.js";
import { flag, fullList, type ListSchema } from "../input.js";
import { findRecords } from "../read.js";
import { References } from "../references.js";
import { notLaterThanNow } from "../time-input.js";
import {
  insertKey,
  type KeyCredential,
  needForKey,
  ownerOf,
  refusalByCeilings,
  refuseUncounted,
  withDefaults,
} from "./create-key.js";
import {
  type CreatedKeys,
  type CreateKeysInput,
  type CreateKeysOptions,
  type ImportedKey,
  type ImportedKeyResult,
  importedKey,
  type PartlyCreatedKeys,
  startOf,
} from "./import-input.js";
import { OwnerPlaces } from "./owner-places.js";

/** Most roles and permissions that one call may name, so that its write, one step on every store, stays short. */
const MAX_NAMED_GRANTS = 10_000;

export const createKeysInput = listOf(importedKey);

/** Schema of the same list if its keys are judged one by one. */
const anyKeys = listOf(z.custom<unknown>());

/** A misspelt `dryRun` must not write. */
const createKeysOptions = z.strictObject({
  partial: flag.refine((isPartial) => isPartial, { error: "must be true" }),
  dryRun: flag.default(false),
});

/** A key of the list that is well formed. */
interface Candidate {
  readonly index: number;
  readonly imported: ImportedKey;
  readonly credential: KeyCredential;
  /** Claims that an existing key with the same secret would hold. */
  readonly claims: readonly string[];
}

export async function createKeys(
  context: OperationContext,
  input: CreateKeysInput,
  options: CreateKeysOptions,
): Promise<PartlyCreatedKeys>;
export async function createKeys(
  context: OperationContext,
  input: CreateKeysInput,
): Promise<CreatedKeys>;
export async function createKeys(
  context: OperationContext,
  input: CreateKeysInput,
  options?: CreateKeysOptions,
): Promise<CreatedKeys | PartlyCreatedKeys> {
  const now = context.now();
  const isPartial = options !== undefined;
  const dryRun = isPartial && parseInput(createKeysOptions, options).dryRun;
  const refused: ImportedKeyResult[] = [];
  const candidates = isPartial
    ? await readOneByOne(context, input, now, refused)
    : await readAsOne(context, input, now);
  if (dryRun) context.call?.forgo();
  const writing = dryRun ? { ...context, call: null } : context;
  return transact(writing, async (work) => {
    const references = new References(work, now);
    const ruled: Ruled[] = [];
    for (const candidate of candidates) {
      const { imported } = candidate;
      const api = await references.api(imported.apiId);
      const settings = { ...imported, ...withDefaults(imported, api && keyRulesOf(api), now) };
      if (imported.permissions === undefined) references.namedByDefault(settings.permissions);
      ruled.push({ ...candidate, api, imported: settings });
    }
    for (const { imported } of ruled) needForKey(references, imported);
    await references.read();
    const known = await knownClaims(context, candidates);
    const owned = ruled.flatMap(({ api, imported }) =>
      api ? { api, owner: ownerOf(imported) } : [],
    );
    const places = await OwnerPlaces.read(work, references, owned);
    const parts = { ...work, references, now };
    const results = refused.slice();
    for (const group of isPartial ? ruled.map((candidate) => [candidate]) : [ruled]) {
      const error =
        claimError(group, known, isPartial) ??
        // As in createKey, before what is missing: that may be created, and the same key be tried again.
        (isPartial ? ruleError(group, places, now) : null) ??
        referenceError(group, references, isPartial) ??
        placeError(group, places, now, dryRun);
      if (error !== null && !isPartial) throw references.confirmed(error);
      for (const { index, imported, credential, claims } of group) {
        if (error === null) for (const claim of claims) known.add(claim);
        results[index] = error === null ? { keyId: dryRun ? null : credential.keyId } : { error };
        // If another key takes the secret meanwhile, the transaction runs again and finds that key.
        if (error === null && !dryRun) insertKey(parts, imported, credential);
      }
    }
    return isPartial
      ? { results }
      : { keyIds: candidates.map(({ credential }) => credential.keyId) };
  });
}

/** Reads a list that is imported as a whole. @throws LatchkeyError `BAD_REQUEST` for all of it if one key is not well formed. */
async function readAsOne(
  context: OperationContext,
  input: unknown,
  now: EpochMs,
): Promise<readonly Candidate[]> {
  const parsed = parseInput(createKeysInput, input, (raw) => importIssues(raw, now));
  const imports = await withCheckedMetas(context.keyMeta, parsed);
  return imports.map((imported, index) => candidateOf(context, imported, index));
}

/** Reads a list whose keys are judged one by one. `refused`: gets the refusals of those that are not well formed, at their places. */
async function readOneByOne(
  context: OperationContext,
  input: unknown,
  now: EpochMs,
  refused: ImportedKeyResult[],
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const [index, key] of parseInput(anyKeys, input).entries())
    try {
      const further = (raw: object) => createdAtIssues({ ...raw }, now);
      const parsed = parseInput(importedKey, key, further);
      refuseUncounted(context, parsed.expiresWhenUnused);
      const imported = await withCheckedMeta(context.keyMeta, parsed);
      candidates.push(candidateOf(context, imported, index));
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      refused[index] = { error };
    }
  return candidates;
}

/** A candidate with its API, which may have settings for it. */
interface Ruled extends Candidate {
  readonly api: ApiRecord | null;
}

/** Why the ceilings of an API refuse one of these keys, each by itself. */
function ruleError(
  candidates: readonly Ruled[],
  places: OwnerPlaces,
  now: EpochMs,
): LatchkeyError | null {
  for (const { api, imported } of candidates) {
    const error = api && refusalByCeilings(api, imported, places, now);
    if (error !== null) return error;
  }
  return null;
}

/** The same for all of them together; null: none is refused, and their places are taken. */
function placeError(
  candidates: readonly Ruled[],
  places: OwnerPlaces,
  now: EpochMs,
  dryRun: boolean,
): LatchkeyError | null {
  for (const candidate of candidates) {
    const error = ruleError([candidate], places, now);
    if (error !== null) return error;
    if (candidate.api !== null) places.take(candidate.api, ownerOf(candidate.imported), dryRun);
  }
  return null;
}

function listOf<Item extends z.ZodType>(item: Item): ListSchema<Item> {
  return fullList(item, 100, "keys").refine((imports) => grantsIn(imports) <= MAX_NAMED_GRANTS, {
    error: `must not name more than ${MAX_NAMED_GRANTS} roles and permissions in total`,
  });
}

function grantsIn(imports: readonly unknown[]): number {
  let count = 0;
  for (const imported of imports) {
    const { roles, permissions } = (imported ?? {}) as Readonly<Record<string, unknown>>;
    for (const names of [roles, permissions]) if (Array.isArray(names)) count += names.length;
  }
  return count;
}

const createdAtIssues = notLaterThanNow("createdAt");

/** The issues of imported keys whose `createdAt` is later than now. */
export function importIssues(imports: unknown, now: EpochMs): readonly InputIssue[] {
  if (!Array.isArray(imports)) return [];
  return imports.flatMap((imported: unknown, index) =>
    createdAtIssues((imported ?? {}) as Readonly<Record<string, unknown>>, now).map(
      ({ path, message }) => ({ path: `${index}.${path}`, message }),
    ),
  );
}

function candidateOf(context: OperationContext, imported: ImportedKey, index: number): Candidate {
  const { workspaceId, hasher } = context;
  const { plaintext, recoverable } = imported;
  const keyId = context.newId("key");
  // The schema ensures that one of the two is present. A plaintext may be known under an earlier pepper, or without one.
  const hashes = plaintext === undefined ? [imported.hash as string] : hasher.candidates(plaintext);
  const importMarks = hasher.importMarks(imported.hash ?? hasher.plainHash(plaintext as string));
  const sealedSecret = recoverable
    ? requireVault(context).seal(plaintext as string, { workspaceId, keyId })
    : null;
  return {
    index,
    imported,
    credential: {
      keyId,
      hash: hashes[0] as string,
      importMarks,
      start: startOf(imported),
      sealedSecret,
    },
    claims: [
      ...hashes.map((hash) => `hash ${hash}`),
      ...importMarks.map((mark) => `importMark ${mark}`),
    ],
  };
}

async function knownClaims(
  context: OperationContext,
  candidates: readonly Candidate[],
): Promise<Set<string>> {
  const claims = candidates.flatMap((candidate) => candidate.claims);
  const wants = claims.map((claim) => {
    const [index, value] = claim.split(" ") as [string, string];
    return { kind: "key", index, value } as const;
  });
  const found = await findRecords(context, wants);
  return new Set(claims.filter((_claim, index) => found[index] !== null));
}

function pathOf(index: number, field: string, isAlone: boolean): string {
  return isAlone ? field : `${index}.${field}`;
}

/** The error for the first of these keys whose secret another key has, or one of them. Nothing else matters for a key that exists. */
function claimError(
  candidates: readonly Candidate[],
  known: ReadonlySet<string>,
  isAlone: boolean,
): LatchkeyError | null {
  const claimed = new Set<string>();
  for (const { index, imported, claims } of candidates) {
    if (claims.some((claim) => known.has(claim) || claimed.has(claim))) {
      const field = pathOf(index, imported.plaintext === undefined ? "hash" : "plaintext", isAlone);
      return taken(field, `"${field}" belongs to a key that already exists`);
    }
    for (const claim of claims) claimed.add(claim);
  }
  return null;
}

/** The error for roles, permissions and APIs of these keys that do not exist, or null. */
function referenceError(
  candidates: readonly Candidate[],
  references: References,
  isAlone: boolean,
): LatchkeyError | null {
  const missing = references.missingAmong(
    candidates.flatMap(({ imported }) => imported.roles ?? []),
    candidates.flatMap(({ imported }) => imported.permissions ?? []),
  );
  if (missing !== null) return missing;
  const lost = candidates.find(({ imported }) => !references.hasApi(imported.apiId));
  if (lost === undefined) return null;
  const path = pathOf(lost.index, "apiId", isAlone);
  return new LatchkeyError("NOT_FOUND", `no such API: "${path}"`);
}
