import type { ChangeFilter, KeyStore } from "@latchkey/core";
import { WORKSPACE } from "./fixtures.js";

/** Every entry of the audit log. */
export const ALL: ChangeFilter = { kind: "all" };

/** A page of the audit log, the first hundred entries unless told otherwise. */
export async function list(
  store: KeyStore,
  filter: ChangeFilter = ALL,
  beforeId: string | null = null,
  limit = 100,
) {
  return store.listChanges(WORKSPACE, filter, { beforeId, limit });
}

/** Ids of the first hundred entries, the latest first. */
export async function idsOf(
  store: KeyStore,
  filter: ChangeFilter = ALL,
): Promise<readonly string[]> {
  return (await list(store, filter)).items.map(({ id }) => id);
}
