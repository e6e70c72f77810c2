import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import type { RootKeyRecord } from "../../records/root-key.js";
import { isRootPermission, ROOT_PERMISSION_FORM } from "../../rules/root-permission.js";
import { BYTE_LENGTH, formatSecret, secretStart } from "../../secrets/format.js";
import type { OperationContext } from "../context.js";
import { expiryIssues, orRequired, parseInput, text, wholeNumber } from "../input.js";

const PERMISSION_ERROR = `must be ${ROOT_PERMISSION_FORM}`;

/** Input of createRootKey: at least one permission, an optional name, an optional expiry (Unix epoch ms). */
export const createRootKeyInput = z.strictObject({
  permissions: z
    .array(
      z.string({ error: PERMISSION_ERROR }).refine(isRootPermission, { error: PERMISSION_ERROR }),
      {
        error: orRequired("must be a list of 1 to 1000 permissions"),
      },
    )
    .min(1, { error: "must be a list of 1 to 1000 permissions" })
    .max(1_000, { error: "must be a list of 1 to 1000 permissions" }),
  name: text(1, 256).optional(),
  expires: wholeNumber(1).optional(),
});

/** Prefix of root keys, so that people and scanners tell them from the keys of customers. */
const ROOT_PREFIX = "lk_root";

/** Makes a key that authorises management calls in this workspace. The secret is answered this once. */
export async function createRootKey(
  context: OperationContext,
  input: z.input<typeof createRootKeyInput>,
): Promise<{ readonly rootKeyId: string; readonly key: string }> {
  const now = context.now();
  const parsed = parseInput(createRootKeyInput, input, (raw) => expiryIssues(raw, now));
  const key = formatSecret(ROOT_PREFIX, context.random(BYTE_LENGTH.default));
  const rootKeyId = context.newId("root");
  const rootKey: RootKeyRecord = {
    id: rootKeyId,
    workspaceId: context.workspaceId,
    hash: context.hasher.hash(key),
    start: secretStart(key),
    name: parsed.name ?? null,
    permissions: [...new Set(parsed.permissions)],
    expiresAt: parsed.expires ?? null,
    switchedOn: true,
    createdAt: now,
  };
  const { name, permissions, expiresAt: expires } = rootKey;
  const changes = [
    noteChange(context, {
      type: "root_key.created",
      at: now,
      resourceId: rootKeyId,
      after: { name, permissions, expires },
    }),
  ];
  await context.store.insertRootKey(rootKey, toLog(context, changes));
  announce(context, changes);
  return { rootKeyId, key };
}
