import {
  type Claim,
  EMPTY_CHANGE,
  type KeyStore,
  LatchkeyError,
  type LoadedRecord,
  layoutOf,
  type RecordLayout,
} from "@latchkey/core";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable, wrong } from "./finding.js";

/** A list of all records of a kind, or of all keys of an API. */
export interface WholeList {
  readonly kind: "key" | "identity";
  readonly list: string;
}

const PAGE = 500;

/**
 * Compares a list with its records: entries without a record, and records whose names do not lead to them. Passes the pages on,
 * so that other checks need not read them again.
 */
export async function* checkList(
  { latchkey, store, fix }: DoctorContext,
  { kind, list }: WholeList,
  onPage: (records: readonly LoadedRecord[]) => AsyncIterable<Finding>,
): AsyncIterable<Finding> {
  const { workspaceId } = latchkey;
  let after: string | null = null;
  let records = 0;
  for (;;) {
    const page = await store.page(workspaceId, { kind, list, after, limit: PAGE });
    records += page.found.length;
    yield* checkNames(store, workspaceId, page.found, fix);
    yield* onPage(page.found);
    after = page.found.at(-1)?.record.id ?? null;
    if (page.hasMore && after !== null) continue;
    // If the store is in use, the numbers may have changed meanwhile.
    if (page.size !== records)
      yield wrong(
        "lists",
        `the list ${list} has ${page.size} entries, and ${records} records were found; check again when nothing is being written`,
      );
    return;
  }
}

async function* checkNames(
  store: KeyStore,
  workspaceId: string,
  records: readonly LoadedRecord[],
  fix: boolean,
): AsyncIterable<Finding> {
  const named = records.flatMap((loaded) => {
    const { kind } = loaded.record;
    const claims = layoutOrNull(loaded, workspaceId)?.claims ?? [];
    return claims.map((name) => ({ loaded, claim: { kind, ...name } }));
  });
  const { found } = await store.read(
    workspaceId,
    named.map(({ claim }) => claim),
  );
  const astray = named
    .map((each, at) => ({ ...each, owner: found[at]?.record.id }))
    .filter(({ loaded, owner }) => owner !== loaded.record.id);
  for (const { loaded, claim, owner } of await unchanged(store, workspaceId, astray)) {
    const { kind, id } = loaded.record;
    const name = `${kind} ${id}: its ${claim.index}`;
    if (owner !== undefined) yield wrong("names", `${name} leads to ${owner}`);
    else
      yield await mendable("names", `${name} leads nowhere`, fix, () =>
        claimAgain(store, workspaceId, loaded, claim),
      );
  }
}

/**
 * The suspects whose records nothing has changed or deleted since they were read. While the store is in use, what belongs to the others may
 * have changed as well.
 */
export async function unchanged<Suspect extends { readonly loaded: LoadedRecord }>(
  store: KeyStore,
  workspaceId: string,
  suspects: readonly Suspect[],
): Promise<readonly Suspect[]> {
  if (suspects.length === 0) return [];
  const wants = suspects.map(({ loaded: { record } }) => ({ kind: record.kind, id: record.id }));
  const { found } = await store.read(workspaceId, wants);
  return suspects.filter(({ loaded }, at) => found[at]?.record.version === loaded.record.version);
}

/** What belongs to a record; null if it cannot be read, which is a finding of its own. */
export function layoutOrNull({ record }: LoadedRecord, workspaceId: string): RecordLayout | null {
  try {
    return layoutOf(record, workspaceId);
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "STORE_CORRUPT") return null;
    throw error;
  }
}

async function claimAgain(
  store: KeyStore,
  workspaceId: string,
  { record, handle }: LoadedRecord,
  claim: Claim,
): Promise<void> {
  const { kind, id, version } = record;
  const result = await store.commit(workspaceId, {
    ...EMPTY_CHANGE,
    expects: [{ kind, id, version, handle }],
    claims: [{ ...claim, id }],
  });
  if (result.kind !== "committed")
    throw new Error(`${kind} ${id} was changed meanwhile: check again`);
}
