import type { Change, ChargeMoment, ChargePlan, LoadedRecord } from "@latchkey/core";

/** Removes memos and handles from arguments: a store keeps internal data in them that would be invalid in the next store. */
export function withoutHandlesIn(method: string, args: readonly unknown[]): readonly unknown[] {
  if (method === "charge") {
    const [plan, ...rest] = args as [ChargePlan, ChargeMoment];
    const confirms = plan.confirms.map(withoutHandle);
    return [{ ...plan, memo: undefined, confirms }, ...rest];
  }
  if (method !== "commit") return args;
  const [workspaceId, change] = args as [string, Change];
  return [workspaceId, { ...change, expects: change.expects.map(withoutHandle) }];
}

function withoutHandle<Item extends { readonly handle?: unknown }>(item: Item): Item {
  return { ...item, handle: undefined };
}

/** The answers of `read` and `page`, without handles. */
export function withoutHandles(result: unknown): unknown {
  const found = (result as { readonly found?: readonly (LoadedRecord | null)[] } | undefined)
    ?.found;
  if (found === undefined) return result;
  return {
    ...(result as object),
    found: found.map((loaded) =>
      loaded === null
        ? null
        : withoutHandle({
            ...loaded,
            linked: loaded.linked === null ? null : withoutHandle(loaded.linked),
          }),
    ),
  };
}
