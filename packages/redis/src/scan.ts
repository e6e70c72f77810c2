import { hash } from "node:crypto";
import {
  corruptRecord,
  LatchkeyError,
  type ScanResult,
  unavailable,
  type WindowScanResult,
} from "@latchkey/core";
import { isCluster, primariesOf, type RedisClient } from "./engine/client.js";
import type { Workspace } from "./engine/workspace.js";

/** How many Redis keys one step scans. */
const SCANNED_AT_ONCE = 1_000;

/** The `next` of {@link scan}: the servers, the current one, and its cursor. */
const POSITION = /^(\S+) (\S+) (\d{1,20})$/;

/** The name of a window in its text, and that of a workspace in the name of a Redis key. */
const [WINDOW_NAME, WORKSPACE_NAME] = [/ (\S+)=$/, /\{([^~{}][^{}]*)\}/];

/**
 * The next names, in the order of `SCAN`, which walks all Redis keys of one primary after the other. Names with a digest belong to no
 * workspace. A window contains its own name, after the units: `<start>:<used> <name>=`.
 *
 * If a primary was added, removed or took over slots since the position was returned, names may have moved to a primary that was scanned
 * already: the scan restarts.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a position that this store did not return.
 */
export async function scan(
  workspace: Workspace,
  isOfWorkspace: boolean,
  after: string | null,
): Promise<ScanResult> {
  const pattern = isOfWorkspace ? workspace.anyWindow : workspace.anyWorkspace;
  const named = isOfWorkspace ? WINDOW_NAME : WORKSPACE_NAME;
  const { keys, primary, next } = await scanKeys(workspace, pattern, after);
  const values = () => workspace.ask(() => primary.mget([...keys]));
  const texts = isOfWorkspace && keys.length > 0 ? await values() : keys;
  return { names: [...new Set(texts.flatMap((text) => named.exec(text ?? "")?.[1] ?? []))], next };
}

/**
 * The next windows of all workspaces, from one walk through all Redis keys: {@link scan} takes one for each workspace. Errors as there.
 */
export async function scanWindows(
  workspace: Workspace,
  after: string | null,
): Promise<WindowScanResult> {
  const { keys, primary, next } = await scanKeys(workspace, workspace.anyWindowOfAll, after);
  // MGET reads one hash slot in a cluster, and a workspace is in one.
  const keysOf = new Map<string, string[]>();
  for (const key of keys) {
    const id = WORKSPACE_NAME.exec(key)?.[1];
    if (id === undefined) continue;
    const own = keysOf.get(id);
    if (own === undefined) keysOf.set(id, [key]);
    else own.push(key);
  }
  const read = async ([id, own]: [string, string[]]) => {
    const texts = await workspace.ask(() => primary.mget(own));
    return [id, texts.flatMap((text) => WINDOW_NAME.exec(text ?? "")?.[1] ?? [])] as const;
  };
  return { windows: new Map(await Promise.all([...keysOf].map(read))), next };
}

/** The next Redis keys that match a pattern, and the server that has them. Errors as in {@link scan}. */
export function scanKeys(workspace: Workspace, pattern: string, after: string | null) {
  const [, layout, at, cursor = "0"] = POSITION.exec(after ?? "- - 0") ?? [];
  if (layout === undefined)
    return Promise.reject(
      new LatchkeyError("BAD_REQUEST", '"after" is not a position of this store'),
    );

  return workspace.ask(async (client) => {
    const { primaries, layout: now } = layoutOf(client);
    const isSame = now === layout;
    const index = isSame ? primaries.findIndex(([name]) => name === at) : 0;
    const [name, primary] = primaries[index] ?? [];
    if (primary === undefined) throw unavailable("no primary of the Redis Cluster is known");
    const from = isSame ? cursor : "0";
    const [next, keys] = await primary.scan(from, "MATCH", pattern, "COUNT", SCANNED_AT_ONCE);
    if (!/^\d{1,20}$/.test(next) || !Array.isArray(keys)) throw corruptRecord("cursor of a scan");
    const [following] = next === "0" ? (primaries[index + 1] ?? []) : [name];
    return {
      keys: keys.map(String),
      primary,
      next: following === undefined ? null : `${now} ${following} ${next}`,
    };
  });
}

/** The primaries by name, in a fixed order, and a digest that changes when they or their slots change. */
function layoutOf(client: RedisClient) {
  if (!isCluster(client)) return { primaries: [["-", client]] as const, layout: "-" };
  const primaries = primariesOf(client)
    .map((node) => {
      const { host, port } = node.options as { readonly host: string; readonly port: number };
      return [`${host}:${port}`, node] as const;
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const owners = [...primaries.map(([name]) => name), ...client.slots.map((nodes) => nodes?.[0])];
  return { primaries, layout: hash("sha256", owners.join(" "), "base64url") };
}
