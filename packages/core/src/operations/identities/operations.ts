import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { CreatedIdentity, CreateIdentityInput } from "./create-identity.js";
import type { DeletedIdentity, DeleteIdentityInput } from "./delete-identity.js";
import type { GetIdentityInput } from "./get-identity.js";
import type { IdentityList, ListIdentitiesInput } from "./list-identities.js";
import type { UpdateIdentityInput } from "./update-identity.js";
import type { IdentityView } from "./view.js";

/** Operations on identities: the users or customers behind keys. */
export interface IdentityOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates an identity. Keys can be given its `externalId` before it exists, too, and create it then.
   *
   * @throws LatchkeyError `CONFLICT` when an identity of this `externalId` exists.
   * @example
   * const { identityId } = await latchkey.createIdentity({
   *   externalId: "customer_7",
   *   ratelimits: [{ name: "requests", limit: 100, duration: "1m", autoApply: true }],
   * });
   */
  createIdentity(input: CreateIdentityInput<Types>): Promise<CreatedIdentity>;
  /**
   * Reads an identity.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id.
   * @example
   * const { meta, remaining } = await latchkey.getIdentity({ externalId: "user_1" });
   */
  getIdentity(input: GetIdentityInput): Promise<IdentityView<Types>>;
  /**
   * Lists the identities of the workspace, a page at a time; `identities()` of a latchkey goes through all of them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { identities, total, cursor } = await latchkey.listIdentities({ limit: 20 });
   */
  listIdentities(input?: ListIdentitiesInput): Promise<IdentityList<Types>>;
  /**
   * Changes metadata, limits or shared uses of an identity. Its keys see it with their next verification; a counter whose limit
   * keeps its name and duration goes on.
   *
   * @returns The identity after the update.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id and for a
   * refill without `remaining`.
   * @example
   * await latchkey.updateIdentity({ externalId: "user_1", remaining: 5_000 });
   */
  updateIdentity(input: UpdateIdentityInput<Types>): Promise<IdentityView<Types>>;
  /**
   * Deletes an identity, with its metadata, limits and shared uses. Its keys live on without an owner, and the answer says so:
   * they belong to no identity that is created under the same `externalId` later, and those that take their uses from the
   * identity have none from then on. To revoke them, list them by `externalId` and delete them first.
   *
   * An identity whose record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity.
   * @example
   * await latchkey.deleteIdentity({ identityId });
   */
  deleteIdentity(input: DeleteIdentityInput): Promise<DeletedIdentity>;
}
