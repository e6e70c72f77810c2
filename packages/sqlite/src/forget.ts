import type { Connection } from "./engine/connection.js";

/** Most rows that one step deletes: some milliseconds of work. */
const FORGOTTEN_AT_ONCE = 500;

/** One step of forgetting a workspace. Call it inside a write transaction. @returns Null once nothing of it is left. */
export function forget({ run, names, memo }: Connection, workspaceId: string): string | null {
  const workspace = names.workspace(workspaceId);
  memo.setMark();
  let left = FORGOTTEN_AT_ONCE;
  for (const row of run.forgetRecords.all(workspace, left)) {
    const [seq, counters] = Object.values(row);
    left -= 1;
    run.deleteUse.run(seq);
    run.forgetCounters.run(counters);
  }
  const { forgetClaims, forgetEntries, forgetPassing, forgetHolds, forgetSums } = run;
  for (const some of [forgetClaims, forgetEntries, forgetPassing, forgetHolds, forgetSums])
    if (left > 0) left -= some.run(workspace, left).changes;
  if (left <= 0) return workspaceId;
  for (const all of [run.forgetNames, run.forgetOwn, run.forgetWorkspace]) all.run(workspace);
  names.forget();
  return null;
}
