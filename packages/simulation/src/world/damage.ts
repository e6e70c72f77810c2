import { EMPTY_CHANGE } from "@latchkey/core";
import type { KnownKey } from "../history.js";
import { asText } from "./story.js";
import type { World } from "./world.js";

/** Damages the record of a key, under the same version. */
export function damage(world: World, place: number, how: number): void {
  const key = world.keys[place % world.keys.length] as KnownKey;
  const { id } = world.workspaceOf(key.workspace);
  const workspace = world.server.model.at(id);
  const { record } = workspace.get("key", key.keyId) ?? {};
  if (record === undefined) return;
  const wrong = [{ apiId: "api_of_nobody" }, { createdAt: -1 }, { hash: 7 }, { ratelimits: "no" }];
  const body = { ...(record.body as object), ...wrong[how] };
  const change = { ...EMPTY_CHANGE, puts: [{ record: { ...record, body } }] };
  workspace.damaged.add(key.keyId);
  world.hasDamaged = true;
  void world.server.callAtOnce("commit", [id, change], -1);
  world.tell(() => `the record of ${key.name} is damaged: ${asText(wrong[how])}`);
}
