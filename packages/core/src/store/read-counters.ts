import type { Hold } from "../rules/hold.js";
import type { LimitKind, LimitState } from "../rules/limit-state.js";
import { slidingWithoutEmpty } from "../rules/sliding-window.js";
import type { RecordAddress } from "./change.js";
import type { LimitReading } from "./charge.js";
import type { KeyStore } from "./key-store.js";

/** Most holds that are asked for at once. For each page, a store may go through the ids of all holds of the record, to sort them. */
const PAGE = 20_000;

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

/**
 * The stored state that a `peek` at `AS_STORED` read, as a copy recreates it: without empty groups at either end, and without the inflow
 * counter of a bucket. Null if no state is stored, or nothing is taken.
 *
 * @param kind - Kind of the limit.
 */
export function stateOfReading({ state }: LimitReading, kind: LimitKind): LimitState | null {
  const { at, used, earlier } =
    kind.algorithm === "sliding" ? slidingWithoutEmpty(state, kind) : state;
  const kept = kind.algorithm === "token-bucket" ? earlier.slice(0, 1) : earlier;
  const last = kept.findLastIndex((count) => count > 0);
  return used === 0 && last === -1 ? null : { at, used, earlier: kept.slice(0, last + 1) };
}
