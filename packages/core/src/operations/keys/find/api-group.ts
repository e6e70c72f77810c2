import type { OperationContext } from "../../context.js";

/** Most APIs whose keys are read side by side for a page. */
const MAX_APIS = 1_000;

/**
 * APIs whose keys are put in one order. A workspace with more of them has its keys listed group by group: to put all in one order, a page
 * would have to read a key of each.
 */
export interface ApiGroup {
  readonly apiIds: readonly string[];
  /** The last API of the group before; empty for none. */
  readonly start: string;
  /** The last API of this group, fixed by its first page. Empty without any API. */
  readonly end: string;
  /** Whether APIs follow. */
  readonly hasMore: boolean;
}

/**
 * The APIs after `start`, up to `end`.
 *
 * @param end - As the page before has it; empty for a group that begins.
 */
export async function readApiGroup(
  { store, workspaceId }: OperationContext,
  start: string,
  end: string,
): Promise<ApiGroup> {
  const apiIds: string[] = [];
  for (let after = start; ; ) {
    const want = { kind: "api", list: "api", after: after || null, limit: MAX_APIS } as const;
    const page = await store.page(workspaceId, want);
    const ids = page.found.map(({ record }) => record.id);
    const within = end === "" ? ids : ids.filter((id) => id <= end);
    apiIds.push(...within);
    const hasMore = page.hasMore || within.length < ids.length;
    after = ids.at(-1) ?? end;
    // APIs with ids between those of others come from a process whose clock is behind, or from a copy: they are few.
    if (end === "" || after >= end || !hasMore || apiIds.length > MAX_APIS)
      return { apiIds, start, end: end || (apiIds.at(-1) ?? ""), hasMore };
  }
}
