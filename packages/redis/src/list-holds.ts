import type { Hold, RecordAddress } from "@latchkey/core";
import { SCRIPTS } from "./engine/scripts.js";
import { asList } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";
import { parseStoredHold } from "./settle.js";

/**
 * The holds beside the counters of a record, in two round trips: first their ids, then the holds. Holds that end in between are left out.
 */
export async function listHolds(
  workspace: Workspace,
  of: RecordAddress,
  after: string | null,
  limit: number,
): Promise<readonly Hold[]> {
  const { shared, holds, holdEnds } = workspace;
  const keys = [shared, holds, holdEnds, workspace.recordsOf(of)];
  const all = asList(await workspace.run(SCRIPTS.listHolds, keys, [of.id]), "list");
  const ids = all
    .map(String)
    .filter((id) => after === null || id > after)
    .sort();
  const found: Hold[] = [];
  while (found.length < limit && ids.length > 0) {
    const wanted = ids.splice(0, limit - found.length);
    const texts = await workspace.run(SCRIPTS.listHolds, keys, [of.id, ...wanted]);
    for (const [index, text] of asList(texts, "list").entries())
      if (text !== null) found.push(parseStoredHold(wanted[index] as string, String(text)));
  }
  return found;
}
