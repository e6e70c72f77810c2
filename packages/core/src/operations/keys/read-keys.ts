import { z } from "zod";
import { withoutNull } from "../../lib/without-null.js";
import { afterCursor, notFound, type OperationContext } from "../context.js";
import { identityWant } from "../identities/reference.js";
import { flag, id, keyReference, presentedSecret } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { findRecords, pageInfo } from "../read.js";
import type { SecretOperations } from "../verify-key/operations.js";
import { NO_IDENTITY, pageInCreationOrder, pageInValueOrder } from "./found-page.js";
import {
  type KeyQuestion,
  listKeysInput,
  positionForm,
  questionOf,
  scopeOf,
} from "./list-question.js";
import { findApiId, findKeyBySecret, getKeyById } from "./load.js";
import type { FoundKeys, KeyOperations, ListKeysScope } from "./operations.js";
import { withPlaintext, withPlaintextOrError } from "./recovery.js";
import { type KeyView, toKeyView, toStored } from "./view.js";

export const listKeys = operation(
  listKeysInput,
  async (context, input, { forExport }: ListKeysScope = {}): Promise<FoundKeys> => {
    const { limit, cursor, decrypt } = input;
    const question = questionOf(input);
    const { apiId, externalId, orderBy, hasTotal, hasScanned } = question;
    const scope = scopeOf(context.workspaceId, question);
    const position = afterCursor(scope, cursor, positionForm(question))?.split(".") ?? null;
    const now = context.now();
    const find = (identityId: string | undefined) => {
      const want = { context, question, identityId, limit, position, now };
      return orderBy === "createdAt" ? pageInCreationOrder(want) : pageInValueOrder(want, orderBy);
    };
    const checking = checkApiAndFindOwner(context, question);
    // Both at once if neither depends on the other.
    const isKnown = apiId !== undefined && externalId === undefined;
    const finding = isKnown ? find(question.identityId) : checking.then(find);
    const [{ keys, damaged, scanned, size, next }] = await Promise.all([finding, checking]);
    const views: KeyView[] = [];
    for (const loaded of keys) {
      const listed = toKeyView(loaded, now);
      const view = forExport ? { ...listed, stored: toStored(loaded) } : listed;
      views.push(decrypt === true ? await withPlaintextOrError(context, loaded, view) : view);
    }
    return {
      keys: views,
      ...(hasTotal && { total: size }),
      ...(hasScanned && { scanned }),
      ...pageInfo(scope, damaged, next?.join(".") ?? null),
    };
  },
  { omitted: {} },
);

/** @returns The id of the owner whose keys are wanted; undefined: the keys of all. */
async function checkApiAndFindOwner(
  context: OperationContext,
  { apiId, externalId, identityId }: KeyQuestion,
): Promise<string | undefined> {
  if (apiId === undefined && externalId === undefined) return identityId;
  const found = await findRecords(context, [
    ...(apiId === undefined ? [] : [{ kind: "api", id: apiId } as const]),
    ...(externalId === undefined ? [] : [identityWant({ externalId })]),
  ]);
  if (apiId !== undefined && found[0] === null) throw notFound("api");
  return externalId === undefined ? identityId : (found.at(-1)?.record.id ?? NO_IDENTITY);
}

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
    return withoutNull({ id, name, remaining, identity, meta, createdAt, enabled, environment });
  }),

  listKeys,
} satisfies Partial<TableOf<KeyOperations & SecretOperations>>;
