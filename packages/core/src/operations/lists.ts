import type { AuditEvent } from "../audit/event.js";
import type { DefaultTypes, LatchkeyTypes } from "../rules/latchkey-types.js";
import type { ListApisInput } from "./apis/list-apis.js";
import type { ApiView } from "./apis/view.js";
import type { ListAuditEventsInput } from "./audit-log/list-audit-events.js";
import type { ListedIdentity, ListIdentitiesInput } from "./identities/list-identities.js";
import type { ListKeysInput } from "./keys/list-keys.js";
import type { KeyView } from "./keys/view.js";
import { iterateList, type ListIterator } from "./list-iterator.js";
import type { Operations } from "./operations.js";
import type { ListRootKeysInput, RootKeyView } from "./root-keys/list-root-keys.js";

/**
 * The lists of a workspace as loops: each reads the pages of the operation beside it, one at a time. `limit` of an input is the size
 * of a page. A loop rejects as the operation does.
 */
export interface Lists<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * All APIs of the workspace, in the order of their creation.
   *
   * @throws LatchkeyError in the loop, as listApis.
   * @example
   * for await (const api of latchkey.apis()) console.log(api.name);
   */
  apis(input?: ListApisInput): ListIterator<ApiView>;
  /**
   * All keys of an API, or those of one identity in it, in the order of their creation.
   *
   * @throws LatchkeyError in the loop, as listKeys.
   * @example
   * for await (const key of latchkey.keysOf({ apiId })) console.log(key.id, key.lastUsedAt);
   */
  keysOf(input: ListKeysInput): ListIterator<KeyView<Types>>;
  /**
   * All identities of the workspace, in the order of their creation.
   *
   * @throws LatchkeyError in the loop, as listIdentities.
   * @example
   * for await (const identity of latchkey.identities()) console.log(identity.externalId);
   */
  identities(input?: ListIdentitiesInput): ListIterator<ListedIdentity<Types>>;
  /**
   * All root keys of the workspace, in the order of their creation, without their secrets.
   *
   * @throws LatchkeyError in the loop, as listRootKeys.
   * @example
   * for await (const rootKey of latchkey.rootKeys()) console.log(rootKey.name);
   */
  rootKeys(input?: ListRootKeysInput): ListIterator<RootKeyView>;
  /**
   * The audit log, the latest entry first: all of it, or what concerns one key or identity, or what one actor did.
   *
   * @throws LatchkeyError in the loop, as listAuditEvents.
   * @example
   * for await (const event of latchkey.auditEvents({ keyId })) console.log(event.at, event.type);
   */
  auditEvents(input?: ListAuditEventsInput): ListIterator<AuditEvent>;
}

/** The lists over the operations of one workspace. */
export function bindLists(operations: Operations): Lists {
  return {
    apis: (input = {}) => iterateList(operations.listApis, input, ({ apis }) => apis),
    keysOf: (input) => iterateList(operations.listKeys, input, ({ keys }) => keys),
    identities: (input = {}) =>
      iterateList(operations.listIdentities, input, ({ identities }) => identities),
    rootKeys: (input = {}) =>
      iterateList(operations.listRootKeys, input, ({ rootKeys }) => rootKeys),
    auditEvents: (input = {}) =>
      iterateList(operations.listAuditEvents, input, ({ events }) => events),
  };
}
