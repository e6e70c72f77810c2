import { keysOfApi, type LoadedRecord } from "@latchkey/core";
import { checkClock } from "./clock.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, fine, wrong } from "./finding.js";
import { checkInstants } from "./future.js";
import { checkList } from "./lists.js";

/** All that a doctor looks at in a workspace, in order. The first line says that the store answers. */
export async function* examine(context: DoctorContext): AsyncIterable<Finding> {
  const { latchkey } = context;
  const { id, enabled } = await latchkey.getWorkspace();
  yield enabled
    ? fine("store", `it answers; workspace ${id} is enabled`)
    : wrong("store", `it answers; workspace ${id} is disabled, so that none of its keys verifies`);
  yield await checkClock(context);
  const counts = { apis: 0, keys: 0, identities: 0 };
  const look = (kind: "keys" | "identities") => (records: readonly LoadedRecord[]) => {
    counts[kind] += records.length;
    return checkInstants(context, records);
  };
  for await (const apiId of apiIds(context)) {
    counts.apis += 1;
    yield* checkList(context, { kind: "key", list: keysOfApi(apiId) }, look("keys"));
  }
  yield* checkList(context, { kind: "identity", list: "identity" }, look("identities"));
  yield fine(
    "records",
    `${counts.apis} APIs, ${counts.keys} keys and ${counts.identities} identities were looked at`,
  );
}

async function* apiIds({ latchkey }: DoctorContext): AsyncIterable<string> {
  let cursor: string | undefined;
  do {
    const page = await latchkey.listApis(cursor === undefined ? {} : { cursor });
    for (const { id } of page.apis) yield id;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
