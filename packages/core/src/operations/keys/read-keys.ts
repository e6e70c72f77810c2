import { z } from "zod";
import { notFound } from "../context.js";
import { flag, id, keyReference, presentedSecret } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import type { SecretOperations } from "../verify-key/operations.js";
import { listKeys } from "./find/find-keys.js";
import { findApiId, findKeyBySecret, getKeyById } from "./load.js";
import type { KeyOperations } from "./operations.js";
import { withPlaintext } from "./recovery.js";
import { toKeyView } from "./view.js";

const getKeyInput = z.strictObject({ keyId: id, decrypt: flag.nullish() });

export const READ_KEYS_TABLE = {
  getKey: operation(getKeyInput, async (context, { keyId, decrypt }) => {
    const loaded = await getKeyById(context, keyId);
    const view = toKeyView(loaded, context.now());
    return decrypt === true ? withPlaintext(context, loaded, view) : view;
  }),

  findApiOfKey: operation(keyReference, (context, { keyId }) => findApiId(context, keyId)),

  whoami: operation(z.strictObject({ key: presentedSecret }), async (context, { key }) => {
    const loaded = await findKeyBySecret(context, key);
    if (typeof loaded === "string") throw notFound("key");
    const view = toKeyView(loaded, context.now());
    const { id, name, remaining, identity, meta, createdAt, enabled, environment } = view;
    return {
      id,
      ...(name !== undefined && { name }),
      ...(remaining !== undefined && { remaining }),
      ...(identity !== undefined && { identity }),
      ...(meta !== undefined && { meta }),
      createdAt,
      enabled,
      ...(environment !== undefined && { environment }),
    };
  }),

  listKeys,
} satisfies Partial<TableOf<KeyOperations & SecretOperations>>;
