import {
  createIdentityInput,
  deleteIdentityInput,
  getIdentityInput,
  listIdentitiesInput,
  updateIdentityInput,
} from "@latchkey/core";
import { onIdentity } from "../auth/required-permissions.js";
import { createdIdentity, identity, identityList } from "../response-schemas/identities.js";
import { nothing } from "../response-schemas/shared.js";
import { IDENTITY, IDENTITY_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** What is done with the users that keys belong to. */
export const IDENTITIES: readonly Operation[] = [
  defineOperation({
    name: "identities.createIdentity",
    method: "POST",
    summary: "Make an identity",
    description:
      "An identity is a user of yours, by your own id of it: its keys share its metadata, its limits and, where " +
      "they are told to, its uses.",
    input: createIdentityInput,
    answers: createdIdentity,
    refusals: ["CONFLICT"],
    example: {
      takes: { externalId: "user_1", meta: { plan: "pro" } },
      answers: { identityId: IDENTITY_ID },
    },
    requiredPermissions: () => onIdentity("create_identity"),
    run: ({ latchkey }, input) => latchkey.createIdentity(input),
  }),
  defineOperation({
    name: "identities.getIdentity",
    method: "GET",
    summary: "Read an identity",
    description: "By either id; `identityId` wins where both are given.",
    input: getIdentityInput,
    answers: identity,
    refusals: ["NOT_FOUND"],
    example: { takes: { externalId: "user_1" }, answers: IDENTITY },
    requiredPermissions: (ids) => onIdentity("read_identity", ids),
    run: ({ latchkey }, input) => latchkey.getIdentity(input),
  }),
  defineOperation({
    name: "identities.listIdentities",
    method: "GET",
    summary: "List identities",
    description:
      "A page in the order of their creation, without metadata. `cursor` of an answer asks for the page after it.",
    input: listIdentitiesInput,
    query: { limit: "integer" },
    answers: identityList,
    refusals: [],
    example: {
      takes: { limit: 2 },
      answers: {
        identities: [{ id: IDENTITY_ID, externalId: "user_1", ratelimits: IDENTITY.ratelimits }],
        total: 1,
      },
    },
    requiredPermissions: () => onIdentity("read_identity"),
    run: ({ latchkey }, input) => latchkey.listIdentities(input),
  }),
  defineOperation({
    name: "identities.updateIdentity",
    method: "POST",
    summary: "Change an identity",
    description:
      "By either id; `identityId` wins where both are given. What is omitted stays; `meta: {}` and an empty list " +
      "of limits clear. Its keys see it with their next verification.",
    input: updateIdentityInput,
    answers: identity,
    refusals: ["NOT_FOUND", "CONFLICT"],
    example: { takes: { externalId: "user_1", meta: { plan: "pro" } }, answers: IDENTITY },
    requiredPermissions: (ids) => onIdentity("update_identity", ids),
    run: ({ latchkey }, input) => latchkey.updateIdentity(input),
  }),
  defineOperation({
    name: "identities.deleteIdentity",
    method: "POST",
    summary: "Delete an identity",
    description:
      "Its keys live on without an owner; one that draws from its uses has none from then on. An identity that is made " +
      "under the same `externalId` later is another one.",
    input: deleteIdentityInput,
    answers: nothing,
    refusals: ["NOT_FOUND"],
    example: { takes: { identityId: IDENTITY_ID }, answers: {} },
    requiredPermissions: (ids) => onIdentity("delete_identity", ids),
    run: ({ latchkey }, input) => latchkey.deleteIdentity(input),
  }),
];
