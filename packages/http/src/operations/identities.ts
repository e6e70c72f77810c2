import { onIdentity } from "../auth/required-permissions.js";
import { createdIdentity, identity, identityList } from "../response-schemas/identities.js";
import { empty } from "../response-schemas/shared.js";
import { IDENTITY, IDENTITY_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** What is done with the users that keys belong to. */
export const IDENTITIES: readonly Operation[] = [
  defineOperation({
    name: "identities.createIdentity",
    operation: "createIdentity",
    method: "POST",
    summary: "Make an identity",
    description:
      "An identity is a user of yours, by your own id of it: its keys share its metadata, its limits and, where " +
      "they are told to, its uses.",
    response: createdIdentity,
    errors: ["CONFLICT"],
    example: {
      input: { externalId: "user_1", meta: { plan: "pro" } },
      response: { identityId: IDENTITY_ID },
    },
    requiredPermissions: () => onIdentity("create_identity"),
  }),
  defineOperation({
    name: "identities.getIdentity",
    operation: "getIdentity",
    method: "GET",
    summary: "Read an identity",
    description: "By either id; `identityId` wins where both are given.",
    response: identity,
    errors: ["NOT_FOUND"],
    example: { input: { externalId: "user_1" }, response: IDENTITY },
    requiredPermissions: (ids) => onIdentity("read_identity", ids),
  }),
  defineOperation({
    name: "identities.listIdentities",
    operation: "listIdentities",
    method: "GET",
    summary: "List identities",
    description:
      "A page in the order of their creation, without metadata. `cursor` of an answer asks for the page after it.",
    queryTypes: { limit: "integer" },
    response: identityList,
    errors: [],
    example: {
      input: { limit: 2 },
      response: {
        identities: [{ id: IDENTITY_ID, externalId: "user_1", ratelimits: IDENTITY.ratelimits }],
        total: 1,
      },
    },
    requiredPermissions: () => onIdentity("read_identity"),
  }),
  defineOperation({
    name: "identities.updateIdentity",
    operation: "updateIdentity",
    method: "POST",
    summary: "Change an identity",
    description:
      "By either id; `identityId` wins where both are given. What is omitted stays; `meta: {}` and an empty list " +
      "of limits clear. Its keys see it with their next verification.",
    response: identity,
    errors: ["NOT_FOUND", "CONFLICT"],
    example: { input: { externalId: "user_1", meta: { plan: "pro" } }, response: IDENTITY },
    requiredPermissions: (ids) => onIdentity("update_identity", ids),
  }),
  defineOperation({
    name: "identities.deleteIdentity",
    operation: "deleteIdentity",
    method: "POST",
    summary: "Delete an identity",
    description:
      "Its keys live on without an owner; one that draws from its uses has none from then on. An identity that is made " +
      "under the same `externalId` later is another one.",
    response: empty,
    errors: ["NOT_FOUND"],
    example: { input: { identityId: IDENTITY_ID }, response: {} },
    run: async ({ latchkey }, input) => {
      await latchkey.deleteIdentity(input);
      return {};
    },
    requiredPermissions: (ids) => onIdentity("delete_identity", ids),
  }),
];
