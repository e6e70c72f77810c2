import { keysOfApi, type LoadedRecord } from "@latchkey/core";
import { checkClock } from "./clock.js";
import { type Finding, fine, wrong } from "./finding.js";
import { checkInstants } from "./future.js";
import { checkList } from "./lists.js";
import type { Patient } from "./patient.js";

/** All that a doctor looks at in a workspace, in order. The first line says that the store answers. */
export async function* examine(patient: Patient): AsyncIterable<Finding> {
  const { latchkey } = patient;
  const { id, enabled } = await latchkey.getWorkspace();
  yield enabled
    ? fine("store", `it answers; workspace ${id} is enabled`)
    : wrong("store", `it answers; workspace ${id} is disabled, so that none of its keys verifies`);
  yield await checkClock(patient);
  const counts = { apis: 0, keys: 0, identities: 0 };
  const look = (kind: "keys" | "identities") => (records: readonly LoadedRecord[]) => {
    counts[kind] += records.length;
    return checkInstants(patient, records);
  };
  for await (const apiId of apiIds(patient)) {
    counts.apis += 1;
    yield* checkList(patient, { kind: "key", list: keysOfApi(apiId) }, look("keys"));
  }
  yield* checkList(patient, { kind: "identity", list: "identity" }, look("identities"));
  yield fine(
    "records",
    `${counts.apis} APIs, ${counts.keys} keys and ${counts.identities} identities were looked at`,
  );
}

async function* apiIds({ latchkey }: Patient): AsyncIterable<string> {
  let cursor: string | undefined;
  do {
    const page = await latchkey.listApis(cursor === undefined ? {} : { cursor });
    for (const { id } of page.apis) yield id;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
