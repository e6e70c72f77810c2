import { type Sample, sample } from "./sample.js";

/** Calls on root keys. */
export const ROOT_KEY_SAMPLES: readonly Sample[] = [
  sample("rootKeys.createRootKey", () => ({ permissions: ["root.*.create_root_key"] }), [
    "root.create_root_key",
  ]),
  sample("rootKeys.listRootKeys", () => ({}), ["root.read_root_key"]),
  sample(
    "rootKeys.updateRootKey",
    ({ rootKeyId }) => ({ rootKeyId, name: "gateway" }),
    ["root.update_root_key"],
    "rootKey",
  ),
  sample(
    "rootKeys.rotateRootKey",
    ({ rootKeyId }) => ({ rootKeyId, graceMs: 1_000 }),
    ["root.create_root_key", "root.update_root_key"],
    "rootKey",
  ),
  sample(
    "rootKeys.revokeRootKey",
    ({ rootKeyId }) => ({ rootKeyId }),
    ["root.revoke_root_key"],
    "rootKey",
  ),
];
