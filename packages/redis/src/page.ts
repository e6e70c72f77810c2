import { corruptRecord, type LoadedRecord, type PageResult, type PageWant } from "@latchkey/core";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, whole } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";
import { read } from "./read.js";

/** The next records of a list, in two round trips: which they are, then these. */
export async function page(workspace: Workspace, want: PageWant): Promise<PageResult> {
  const { kind, limit } = want;
  const first = await listIds(workspace, want);
  const found: LoadedRecord[] = [];
  for (let { ids } = first; ; ) {
    const wants = ids.map((id) => ({ kind, id }));
    const loaded = ids.length > 0 && (await read(workspace, wants));
    if (loaded) found.push(...loaded.found.filter((each) => each !== null));
    if (ids.length <= limit || found.length > limit) break;
    // Ids whose record is gone are no reason to end.
    const last = ids.at(-1) as string;
    ({ ids } = await listIds(workspace, { ...want, after: last }));
    // A server that answers the same again would be asked for ever.
    if (ids.at(-1) === last) throw corruptRecord("list");
  }
  // The first revision: what was read afterwards is as fresh as that, or fresher.
  const { revision, size } = first;
  return { revision, size, found: found.slice(0, limit), hasMore: found.length > limit };
}

/** One id more than the page has says that there are more. */
async function listIds(workspace: Workspace, want: PageWant) {
  const { list, of, after, limit, descending = false } = want;
  const { list: key, start } = workspace.list(list, of);
  // A small list ends where "!" stands, which comes after a space.
  const [lowest, highest] = start === "" ? ["-", "+"] : [`[${start}`, `(${start.trimEnd()}!`];
  const from = after === null ? null : `(${start}${after}`;
  const range = descending ? [from ?? highest, lowest] : [from ?? lowest, highest];
  const keys = [workspace.shared, workspace.list(list).list, key];
  const args = [descending ? "d" : "a", ...range, String(limit + 1)];
  const answer = await workspace.run(SCRIPTS.page, keys, args);
  const [revision, size, members] = asList(answer, "list");
  return {
    revision: whole(revision, "revision"),
    size: whole(size, "list"),
    ids: asList(members, "list").map((member) => String(member).slice(start.length)),
  };
}
