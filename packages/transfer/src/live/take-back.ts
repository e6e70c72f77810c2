import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { workspacesOf } from "../passes/source.js";
import { readState, replaceState } from "../state.js";

/**
 * Gives a live copy up that did not come to its end: the source is in charge again, at once. First the target is taken away from
 * whoever might still open it; the fence is lifted behind that, so that there is no moment at which both serve.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` where a workspace was opened on the target: then that is in charge, and the copy has to
 * be brought to its end.
 */
export async function takeBack(from: KeyStore, to: KeyStore): Promise<void> {
  const workspaces = await workspacesOf(from);
  const targets = new Map(
    await Promise.all(workspaces.map(async (id) => [id, await readState(to, id)] as const)),
  );
  for (const [id, { state }] of targets) {
    const source = (await readState(from, id)).state;
    const isMissing = source?.state === "moved" && state?.transfer !== source.transfer;
    if (state?.state === "open" || isMissing)
      throw new LatchkeyError(
        "PRECONDITION_FAILED",
        "the keys have arrived on the target, or went to another one: they cannot be taken back",
      );
  }
  for (const id of workspaces) {
    const target = targets.get(id);
    if (target?.state?.state === "incomplete")
      await replaceState(to, id, target, { state: "incomplete", transfer: target.state.transfer });
  }
  for (const id of workspaces) {
    const source = await readState(from, id);
    if (source.state !== null) await replaceState(from, id, source, null);
  }
}
