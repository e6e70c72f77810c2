import { keysOfApi, type LoadedRecord, leaseTimesOf, STATE_ADDRESS } from "@latchkey/core";
import { apiRecords } from "../command-line/record-pages.js";
import { plural } from "../command-line/words.js";
import { checkClock } from "./clock.js";
import type { DoctorContext } from "./doctor-context.js";
import { checkExpiries } from "./expiries.js";
import { type Finding, fine, wrong } from "./finding.js";
import { checkInstants } from "./future.js";
import { RingTrial } from "./key-rings.js";
import { checkLeases } from "./leases.js";
import { checkList, layoutOrNull } from "./lists.js";
import { checkRootKeys } from "./root-keys.js";
import { checkSender } from "./sender.js";

/** Records that were looked at. */
interface Counts {
  readonly apis: number;
  readonly keys: number;
  readonly identities: number;
}

/** All checks of a workspace, in order. The first line says that the store responds. */
export async function* examine(context: DoctorContext): AsyncIterable<Finding> {
  const { latchkey } = context;
  const { id, enabled } = await latchkey.getWorkspace();
  yield enabled
    ? fine("store", `it answers; workspace ${id} is enabled`)
    : wrong("store", `it answers; workspace ${id} is disabled, so none of its keys verifies`);
  yield await checkClock(context);
  yield* lookAtLeases(context);
  const trial = new RingTrial(context.rings, latchkey.workspaceId);
  const counts = { apis: 0, keys: 0, identities: 0 };
  const look = (kind: "keys" | "identities") => (records: readonly LoadedRecord[]) => {
    counts[kind] += records.length;
    context.onProgress?.(() => lookedAt(counts));
    if (kind === "keys") for (const record of records) trial.look(record);
    return lookAt(context, records);
  };
  for await (const api of apiRecords(latchkey, context.store)) {
    const { id: apiId } = api.record;
    if (layoutOrNull(api, latchkey.workspaceId) === null) {
      // Each of its keys is unusable, for this reason alone.
      yield wrong("records", `the API ${apiId} cannot be read, so none of its keys verifies`);
      continue;
    }
    counts.apis += 1;
    yield* checkList(context, { kind: "key", list: keysOfApi(apiId) }, look("keys"));
  }
  yield* checkList(context, { kind: "identity", list: "identity" }, look("identities"));
  yield fine("records", lookedAt(counts));
  yield* checkSender(context);
  yield* checkRootKeys(context, (loaded) => trial.lookAtRoot(loaded));
  yield* trial.findings();
}

function lookedAt({ apis, keys, identities }: Counts): string {
  return `looked at ${plural(apis, "API")}, ${plural(keys, "key")} and ${plural(identities, "identity")}`;
}

/** Reports the state of leases, if there ever were any. */
async function* lookAtLeases({ latchkey, store }: DoctorContext): AsyncIterable<Finding> {
  const { found } = await store.read(latchkey.workspaceId, [STATE_ADDRESS]);
  const times = leaseTimesOf(found[0] ?? null);
  if (times === null) return;
  const { grant, wait } = times;
  if (wait === 0) yield fine("leases", "they were ended: every verification asks the store");
  else if (grant === 0) yield fine("leases", `they are ending: a change waits for ${wait} ms`);
  else yield fine("leases", `at most ${grant} ms; a change waits for ${wait} ms`);
}

async function* lookAt(
  context: DoctorContext,
  records: readonly LoadedRecord[],
): AsyncIterable<Finding> {
  yield* checkInstants(context, records);
  yield* checkExpiries(context, records);
  yield* checkLeases(context, records);
}
