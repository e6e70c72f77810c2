import {
  corruptRecord,
  type LoadedRecord,
  type LogPlace,
  type PageResult,
  type PageWant,
} from "@latchkey/core";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, whole } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";
import { read } from "./read.js";

/** The next records of a list, in two round trips: first the ids, then the records. */
export async function page(workspace: Workspace, want: PageWant): Promise<PageResult> {
  if (want.from !== undefined) return logPage(workspace, want.from, want.limit);
  const { kind, limit } = want;
  const first = await listIds(workspace, want);
  const found: LoadedRecord[] = [];
  for (let { ids } = first; ; ) {
    const wants = ids.map((id) => ({ kind, id }));
    const loaded = ids.length > 0 && (await read(workspace, wants));
    if (loaded) found.push(...loaded.found.filter((each) => each !== null));
    if (ids.length <= limit || found.length > limit) break;
    // A page does not end early because records of some ids are gone.
    const last = ids.at(-1) as string;
    ({ ids } = await listIds(workspace, { ...want, after: last }));
    // Without this, a server that returns the same page again would cause an endless loop.
    if (ids.at(-1) === last) throw corruptRecord("list");
  }
  // The first revision: records that were read later are at least as fresh.
  const { revision, size } = first;
  return { revision, size, found: found.slice(0, limit), hasMore: found.length > limit };
}

/** Asks for one id more than the page has, which shows whether there are more. */
async function listIds(workspace: Workspace, want: PageWant) {
  const { list, of, after, limit, descending = false } = want;
  const { list: key, start } = workspace.list(list, of);
  // The members of a small list end before "!", the character after a space.
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

/** How often entries are looked for again: a process of an earlier version deletes them without their positions. */
const MOST_LOOKS = 5;

/**
 * The next entries of the audit log. Entries deleted after their positions were read are looked up again, so that the gap is not taken for
 * an older one.
 */
async function logPage(
  workspace: Workspace,
  from: LogPlace,
  limit: number,
  looks = MOST_LOOKS,
): Promise<PageResult> {
  const { version, id } = from;
  const { shared, log, unnumbered } = workspace;
  const keys = [shared, log, unnumbered, workspace.list("auditEntry").list];
  const args = [String(Math.max(version, 1)), id === "" ? "-" : `[${id}`, String(limit + 1)];
  const answer = await workspace.run(SCRIPTS.logPage, keys, args);
  const [revision, size, members, last] = asList(answer, "list");
  const ids = asList(members, "list").map(String);
  const wants = ids.slice(0, limit).map((id) => ({ kind: "auditEntry" as const, id }));
  const found = wants.length > 0 ? (await read(workspace, wants)).found : [];
  if (looks > 1 && found.includes(null)) return logPage(workspace, from, limit, looks - 1);
  return {
    revision: whole(revision, "revision"),
    size: whole(size, "list"),
    found: found.filter((each) => each !== null),
    hasMore: ids.length > limit,
    last: whole(last, "list"),
  };
}
