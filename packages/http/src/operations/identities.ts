import { allOf, onApi, onIdentity } from "../auth/required-permissions.js";
import {
  createdIdentity,
  deletedIdentity,
  erasedIdentity,
  identity,
  identityList,
} from "../response-schemas/identities.js";
import { IDENTITY, IDENTITY_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Operations on identities: the users that keys belong to. */
export const IDENTITIES: readonly Operation[] = [
  defineOperation("identities.createIdentity", {
    summary: "Create an identity",
    description:
      "An identity is one of your users, by your own id. Its keys share its metadata, its limits and, with " +
      '`usesFrom: "identity"`, its uses.',
    response: createdIdentity,
    errors: ["CONFLICT"],
    example: {
      input: { externalId: "user_1", meta: { plan: "pro" } },
      response: { identityId: IDENTITY_ID },
    },
    requiredPermissions: () => onIdentity("create_identity"),
  }),
  defineOperation("identities.getIdentity", {
    method: "GET",
    summary: "Read an identity",
    description: "By either id; `identityId` wins if both are given.",
    response: identity,
    errors: ["NOT_FOUND"],
    example: { input: { externalId: "user_1" }, response: IDENTITY },
    requiredPermissions: (ids) => onIdentity("read_identity", ids),
  }),
  defineOperation("identities.listIdentities", {
    method: "GET",
    summary: "List identities",
    description:
      "One page, in the order of creation, without metadata. Send the `cursor` of a response to get the next page. With " +
      "`externalIdContains` a page reads at most 2,000 identities: it may have few items, or none, and still have a `cursor`.",
    queryTypes: { limit: "integer" },
    response: identityList,
    example: {
      input: { limit: 2 },
      response: {
        identities: [{ id: IDENTITY_ID, externalId: "user_1", ratelimits: IDENTITY.ratelimits }],
        total: 1,
      },
    },
    requiredPermissions: () => onIdentity("read_identity"),
  }),
  defineOperation("identities.updateIdentity", {
    summary: "Change an identity",
    description:
      "By either id; `identityId` wins if both are given. Omitted fields stay unchanged; `meta: {}` and an empty list " +
      "of limits clear. The next verification of its keys sees the change.",
    response: identity,
    errors: ["NOT_FOUND", "CONFLICT"],
    example: { input: { externalId: "user_1", meta: { plan: "pro" } }, response: IDENTITY },
    requiredPermissions: (ids) => onIdentity("update_identity", ids),
  }),
  defineOperation("identities.deleteIdentity", {
    summary: "Delete an identity",
    description:
      "With `keys: unlink`, or without `keys`, its keys stay valid, without an owner; a key that takes its uses from the " +
      "identity has none left. `disable` switches them off, and needs `update_key` for all APIs, too; `delete` deletes them, " +
      "and needs `delete_key`. If the request fails partway, send it again. An identity that is created with the same " +
      "`externalId` later is a different one.",
    response: deletedIdentity,
    errors: ["NOT_FOUND"],
    example: { input: { identityId: IDENTITY_ID }, response: { keys: "unlinked" } },
    requiredPermissions: ({ identityId, keys = "unlink" }) =>
      allOf([
        onIdentity("delete_identity", { identityId }),
        ...(keys === "unlink" ? [] : [onApi([KEY_ACTIONS[keys]])]),
      ]),
  }),
  defineOperation("identities.eraseIdentity", {
    summary: "Erase an identity and all data about it",
    description:
      "By either id; `identityId` wins if both are given. The identity, earlier ones with the same `externalId`, and their keys are " +
      "deleted, even if the identity was deleted before. In the audit log, their names, metadata and other texts are overwritten, and " +
      "`erased` is true; one entry records the erasure. It works in bounded steps and reads the whole audit log. If the request fails " +
      "on the way, send it again.",
    response: erasedIdentity,
    errors: ["NOT_FOUND"],
    example: {
      input: { externalId: "user_1" },
      response: { erasedIdentities: 1, deletedKeys: 3, erasedEvents: 17 },
    },
    requiredPermissions: () => onIdentity("erase_identity"),
  }),
];

/** The action that must be allowed on all APIs, by what happens to the keys of the identity. */
const KEY_ACTIONS = { disable: "update_key", delete: "delete_key" } as const;
