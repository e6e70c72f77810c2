import type { AuditEvent } from "../audit/entry.js";
import type { MemberMakers } from "../lib/lazy-members.js";
import type { DefaultTypes, LatchkeyTypes } from "../rules/latchkey-types.js";
import type { ApiView } from "./apis/apis.js";
import type { ListedIdentity } from "./identities/operations.js";
import type { PageInput } from "./input.js";
import type { KeyView } from "./keys/view.js";
import type { InputOf, OperationName, Operations } from "./operations.js";
import type { PageInfo } from "./read.js";
import type { ReservationView } from "./reservations/operations.js";
import type { RootKeyView } from "./root-keys/operations.js";
import type { WorkspaceView } from "./workspaces.js";

/**
 * The items of a list, read a page at a time. Leaving the loop early stops reading. You can iterate once; if a page cannot be read, the
 * loop throws.
 */
export interface ListIterator<Item> extends AsyncIterableIterator<Item> {
  /** Damaged records that were left out so far. */
  readonly damaged: number;
}

/** The lists of a workspace, to iterate over. `limit` is the size of a page. */
export interface Lists<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * All APIs of the workspace, in the order of their creation.
   *
   * @throws LatchkeyError in the loop, like listApis.
   * @example
   * for await (const api of latchkey.apis()) console.log(api.name);
   */
  apis(input?: PageInput): ListIterator<ApiView<Types>>;
  /**
   * All keys of the workspace, of an API or of an owner that match all filters, in the order of their creation unless `orderBy` says
   * otherwise.
   *
   * @throws LatchkeyError in the loop, like listKeys.
   * @example
   * for await (const key of latchkey.keysOf({ apiId })) console.log(key.id, key.lastUsedAt);
   */
  keysOf(input?: InputOf<"listKeys", Types>): ListIterator<KeyView<Types>>;
  /**
   * All identities of the workspace, in the order of their creation.
   *
   * @throws LatchkeyError in the loop, like listIdentities.
   * @example
   * for await (const identity of latchkey.identities()) console.log(identity.externalId);
   */
  identities(input?: InputOf<"listIdentities">): ListIterator<ListedIdentity<Types>>;
  /**
   * All root keys of the workspace, in the order of their creation, without their secrets.
   *
   * @throws LatchkeyError in the loop, like listRootKeys.
   * @example
   * for await (const rootKey of latchkey.rootKeys()) console.log(rootKey.name);
   */
  rootKeys(input?: PageInput): ListIterator<RootKeyView>;
  /**
   * The audit log, the latest entry first: all of it, that of one key or identity, or that of one actor.
   *
   * @throws LatchkeyError in the loop, like listAuditEvents.
   * @example
   * for await (const event of latchkey.auditEvents({ keyId })) console.log(event.at, event.type);
   */
  auditEvents(input?: InputOf<"listAuditEvents">): ListIterator<AuditEvent>;
  /**
   * The open reservations of a key, or of all keys of an identity, in the order of their creation.
   *
   * @throws LatchkeyError in the loop, like listReservations.
   * @example
   * for await (const open of latchkey.reservations({ keyId })) console.log(open.reservationId, open.uses);
   */
  reservations(input: InputOf<"listReservations">): ListIterator<ReservationView>;
  /**
   * All workspaces of the store, in the order of their ids.
   *
   * @throws LatchkeyError in the loop, like listWorkspaces.
   * @example
   * for await (const { id, name } of latchkey.workspaces()) console.log(id, name);
   */
  workspaces(input?: PageInput): ListIterator<WorkspaceView>;
}

/** How each list is made from the operations of a workspace. Only for `@latchkey/otel`: it may change with any version. */
export const LIST_MAKERS: MemberMakers<Lists, unknown, Operations> = {
  apis: list("listApis", ({ apis }) => apis),
  keysOf: list("listKeys", ({ keys }) => keys),
  identities: list("listIdentities", ({ identities }) => identities),
  rootKeys: list("listRootKeys", ({ rootKeys }) => rootKeys),
  auditEvents: list("listAuditEvents", ({ events }) => events),
  reservations: list("listReservations", ({ reservations }) => reservations),
  workspaces: list("listWorkspaces", ({ workspaces }) => workspaces),
};

type PageOf<Name extends OperationName> = Awaited<ReturnType<Operations[Name]>> & PageInfo;

/** The operation is looked up with each call, because a test may have replaced it. */
function list<Name extends OperationName, Item>(
  name: Name,
  itemsOf: (page: PageOf<Name>) => readonly Item[],
) {
  return (_: unknown, operations: Operations) =>
    (input: object = {}) =>
      iterateList(operations[name] as (input: object) => Promise<PageOf<Name>>, input, itemsOf);
}

/** Iterates over all pages of a list. `input`: of the first page; with a `cursor`, the list starts there. */
function iterateList<Page extends PageInfo, Item>(
  read: (input: object) => Promise<Page>,
  input: object,
  itemsOf: (page: Page) => readonly Item[],
): ListIterator<Item> {
  let damaged = 0;
  async function* items(): AsyncGenerator<Item, void, undefined> {
    let next: object | null = input;
    while (next !== null) {
      const page: Page = await read(next);
      damaged += page.damaged ?? 0;
      yield* itemsOf(page);
      next = page.cursor === undefined ? null : { ...next, cursor: page.cursor };
    }
  }
  return Object.defineProperty(items(), "damaged", { get: () => damaged }) as ListIterator<Item>;
}
