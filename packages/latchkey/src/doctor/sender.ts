import { EMPTY_CHANGE } from "@latchkey/core";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable } from "./finding.js";
import { layoutOrNull } from "./lists.js";

const SENDER = { kind: "sender", id: "sender" } as const;

/**
 * Reports a damaged record of the webhooks' sender: no process sends events then. Without the record, endpoints start again where the
 * log ended when a process called `start`.
 */
export async function* checkSender({
  latchkey,
  store,
  fix,
}: DoctorContext): AsyncIterable<Finding> {
  const { workspaceId } = latchkey;
  const { found } = await store.read(workspaceId, [SENDER]);
  const [sender] = found;
  if (!sender || layoutOrNull(sender, workspaceId) !== null) return;
  const { version } = sender.record;
  yield await mendable(
    "webhooks",
    "the record of how far events were sent cannot be read, so none is sent; without it, processes that run send again what happened since they started, and others only later events",
    fix,
    () =>
      store.commit(workspaceId, {
        ...EMPTY_CHANGE,
        expects: [{ ...SENDER, version }],
        deletes: [SENDER],
        leaves: [{ list: "sender", id: SENDER.id }],
      }),
  );
}
