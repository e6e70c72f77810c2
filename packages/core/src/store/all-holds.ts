import type { Hold } from "../rules/hold.js";
import type { RecordAddress } from "./change.js";
import type { KeyStore } from "./key-store.js";

/** Most holds that are read at once. */
const PAGE = 1_000;

/** All holds of a record, in ascending order of id. */
export async function allHolds(
  store: Pick<KeyStore, "holds">,
  workspaceId: string,
  of: RecordAddress,
): Promise<readonly Hold[]> {
  const holds: Hold[] = [];
  for (;;) {
    const page = await store.holds(workspaceId, of, holds.at(-1)?.id ?? null, PAGE);
    holds.push(...page);
    if (page.length < PAGE) return holds;
  }
}
