import {
  type Claim,
  EMPTY_CHANGE,
  type KeyStore,
  type LoadedRecord,
  type RecordKind,
} from "@latchkey/core";
import { type Finding, mendable, wrong } from "./finding.js";
import type { Patient } from "./patient.js";

/** A list of records, each of which is found by a name too. */
export interface IndexedList {
  readonly kind: RecordKind & ("key" | "identity");
  readonly list: string;
  /** The name by which its records are found, and the member of their bodies that holds it. */
  readonly index: "hash" | "externalId";
}

const PAGE = 500;

/**
 * Compares a list with its records: entries without one, and records that their name does not lead to. Hands on the pages, so
 * that what else is to be looked at is read once.
 */
export async function* checkList(
  { latchkey, store, fix }: Patient,
  wanted: IndexedList,
  onPage: (records: readonly LoadedRecord[]) => AsyncIterable<Finding>,
): AsyncIterable<Finding> {
  const { workspaceId } = latchkey;
  const { kind, list } = wanted;
  let after: string | null = null;
  let records = 0;
  for (;;) {
    const page = await store.page(workspaceId, { kind, list, after, limit: PAGE });
    records += page.found.length;
    yield* checkNames(store, workspaceId, wanted, page.found, fix);
    yield* onPage(page.found);
    after = page.found.at(-1)?.record.id ?? null;
    if (page.hasMore && after !== null) continue;
    // A store that is written to meanwhile may have more or fewer by now.
    if (page.size !== records)
      yield wrong(
        "lists",
        `the list ${list} has ${page.size} entries, and ${records} records were found; look again when nothing is written`,
      );
    return;
  }
}

async function* checkNames(
  store: KeyStore,
  workspaceId: string,
  { kind, index }: IndexedList,
  records: readonly LoadedRecord[],
  fix: boolean,
): AsyncIterable<Finding> {
  const named = records.flatMap((loaded) => {
    const value = nameOf(loaded, index);
    return value === null ? [] : [{ loaded, claim: { kind, index, value } }];
  });
  const { found } = await store.read(
    workspaceId,
    named.map(({ claim }) => claim),
  );
  for (const [at, { loaded, claim }] of named.entries()) {
    const { id } = loaded.record;
    const owner = found[at]?.record.id;
    if (owner === id) continue;
    if (owner !== undefined) yield wrong("names", `${kind} ${id}: its ${index} leads to ${owner}`);
    else
      yield await mendable("names", `${kind} ${id}: its ${index} leads nowhere`, fix, () =>
        claimAgain(store, workspaceId, loaded, claim),
      );
  }
}

/** The name of a record, or null where its body cannot be read: that is another finding. */
function nameOf({ record }: LoadedRecord, index: string): string | null {
  const { body } = record;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const name = (body as Readonly<Record<string, unknown>>)[index];
  return typeof name === "string" ? name : null;
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
    throw new Error(`${kind} ${id} was changed meanwhile: look again`);
}
