import { allMembers, lazyMembers, type MemberMakers } from "./lib/lazy-members.js";
import { createLruCache } from "./lib/lru-cache.js";
import type { OperationContext } from "./operations/context.js";
import {
  createDeliveries,
  DELIVERIES,
  type Deliveries,
  type DeliveriesHost,
} from "./operations/deliveries/deliveries.js";
import { LIST_MAKERS, type Lists } from "./operations/lists.js";
import { OPERATION_MAKERS, type Operations } from "./operations/operations.js";
import { requireSigner } from "./operations/tokens.js";
import type { VerifyScope } from "./operations/verify-key/operations.js";
import {
  makeVerifier,
  type Verifier,
  type VerifierInput,
} from "./operations/verify-key/verifier.js";
import { WORKSPACE_ID_PATTERN } from "./records/workspace.js";
import type { DeclaresTypes, DefaultTypes, LatchkeyTypes } from "./rules/latchkey-types.js";
import type { TokenKeySet } from "./secrets/token-signer.js";
import type { Clock } from "./time.js";

/** Key and identity management over one store, in one workspace. */
export interface Latchkey<Types extends LatchkeyTypes = DefaultTypes>
  extends Operations<Types>,
    Lists<Types>,
    DeclaresTypes<Types> {
  /** The workspace whose records these operations use. */
  readonly workspaceId: string;
  /** The current time that operations use: Unix epoch ms. It never goes back. */
  readonly now: Clock;
  /**
   * Returns a function that verifies keys with fixed requirements. It validates them only once: on a guarded route, this is faster than
   * `verifyKey`.
   *
   * @throws TypeError naming an `apiId`, `permissions` or `ratelimits` that is present but undefined, or any inherited field, because
   * ignoring it would admit other keys. LatchkeyError `BAD_REQUEST` naming every other wrong field, at once.
   * @example
   * const mayRead = latchkey.verifier({ permissions: "tiles.read" });
   * const verdict = await mayRead(key, { ipAddress });
   */
  verifier(question?: VerifierInput<Types>, scope?: VerifyScope): Verifier<Types>;
  /**
   * The public keys that verify tokens of exchangeKey, of all workspaces, as a JWK Set. You can publish it.
   *
   * @throws LatchkeyError `PRECONDITION_FAILED` without `tokens`, or if `jose` is not installed.
   * @example
   * const { keys } = await latchkey.jwks();
   */
  jwks(): Promise<TokenKeySet>;
  /**
   * The same operations for another tenant, over the same store. You can call it in each request: it caches what it returns, for the
   * workspaces used last.
   *
   * @throws TypeError unless the id is 1 to 64 of `A-Z a-z 0-9 _ -`.
   * @example
   * const theirs = latchkey.workspace("ws_northwind");
   */
  workspace(workspaceId: string): Latchkey<Types>;
  /**
   * The same operations on behalf of someone: the audit log and events show the name as `actor`. You can call it in each request, like
   * `workspace`.
   *
   * @throws TypeError unless the name has 1 to 256 characters.
   * @example
   * await latchkey.actingAs("support").deleteKey({ keyId });
   */
  actingAs(actor: string): Latchkey<Types>;
  /**
   * Ends all leases of this workspace. When it resolves, no process has a lease or gets a new one, and changes no longer wait. A latchkey
   * with `leases` that has had none here, such as one that is created later, starts them again.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * await latchkey.endLeases();
   */
  endLeases(): Promise<void>;
  /**
   * Writes the statistics that the store does not have yet, including those of verifications under way. Then returns what leases hold (for
   * at most three seconds if the store does not answer), and closes the store.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * await latchkey.close();
   */
  close(): Promise<void>;
}

/** Most pairs of a workspace and an actor that are cached, about 1 kB each. */
const MAX_BOUND = 10_000;

/** What all workspaces of a latchkey share. */
export type SharedContext = Omit<OperationContext, "workspaceId"> & {
  readonly close: () => Promise<void>;
  readonly deliveries: DeliveriesHost;
  readonly endLeases: (workspaceId: string) => Promise<void>;
};

type Bound = Latchkey & { readonly [DELIVERIES]: () => Deliveries };

/**
 * Binds the operations to a workspace. Its `workspace` and `actingAs` cache what they return: a server with many tenants calls them in each
 * request.
 *
 * @throws TypeError for a malformed workspace id.
 */
export function bindLatchkey(shared: SharedContext, workspaceId: string): Latchkey {
  const kept = createLruCache<Latchkey>(MAX_BOUND);
  const makers: MemberMakers<Bound, OperationContext> = {
    ...OPERATION_MAKERS,
    ...LIST_MAKERS,
    [DELIVERIES]: (context) => () => createDeliveries(context, shared.deliveries),
    workspaceId: (context) => context.workspaceId,
    now: () => shared.now,
    workspace:
      ({ actor }) =>
      (otherId) =>
        bind(otherId, actor),
    actingAs: (context) => (other) => bind(context.workspaceId, checkedActor(other)),
    verifier:
      (context) =>
      (...question) =>
        makeVerifier(context, ...question),
    endLeases: (context) => () => shared.endLeases(context.workspaceId),
    jwks: () => async () => requireSigner(shared).publicKeys(),
    close: () => shared.close,
  };
  const bind = (id: string, actor: string | null, make = lazyMembers): Latchkey => {
    if (typeof id !== "string" || !WORKSPACE_ID_PATTERN.test(id))
      throw new TypeError('"workspaceId" must be 1 to 64 characters of A-Z a-z 0-9 _ -');
    // The id of a workspace has no space, and an actor has at least one character.
    const name = actor === null ? id : `${id} ${actor}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const bound = make<Bound, OperationContext>(makers, { ...shared, workspaceId: id, actor });
    kept.set(name, bound);
    return bound;
  };
  // A plain object, because most servers use only this one.
  return bind(workspaceId, null, allMembers);
}

/** @throws TypeError for an actor that the audit log cannot hold. */
function checkedActor(actor: unknown): string {
  if (typeof actor === "string" && actor.length >= 1 && actor.length <= 256 && actor.isWellFormed())
    return actor;
  throw new TypeError('"actor" must be a string of 1 to 256 characters');
}
