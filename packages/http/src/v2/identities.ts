import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { z } from "zod";
import { findIdentityId } from "../auth/identity-id.js";
import { onIdentityByAnyId } from "../auth/required-permissions.js";
import { IDENTITY_ID } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { dataBody, pageBody, paginationOf } from "./bodies.js";
import { anyId, fieldsOf, page, ratelimits } from "./fields.js";
import { defineV2 } from "./operation.js";
import { empty, identity, toIdentity } from "./views.js";

const { externalId, meta } = fieldsOf(CORE_OPERATIONS.createIdentity.input);

const IDENTITY = {
  id: IDENTITY_ID,
  externalId: "user_1",
  meta: { plan: "pro" },
  ratelimits: [
    { id: "requests", name: "requests", limit: 1_000, duration: 60_000, autoApply: false },
  ],
};

const either = { identity: anyId.describe("Id of the identity, or your own id of the user.") };

const MOST_ITEMS = 100;

/** Maximum pages that one search reads: there may be millions of identities, and no index finds a part of a name. */
const MOST_READS = 100;

/** Operations on identities: the users that keys belong to. */
export const IDENTITIES: readonly Operation[] = [
  defineV2("identities.createIdentity", {
    input: z.strictObject({ externalId, meta, ratelimits }),
    response: dataBody(z.strictObject({ identityId: z.string() })),
    example: {
      input: { externalId: "user_1", meta: { plan: "pro" } },
      response: { data: { identityId: IDENTITY_ID } },
    },
  }),
  defineV2("identities.getIdentity", {
    input: z.strictObject(either),
    response: dataBody(identity),
    example: { input: { identity: "user_1" }, response: { data: IDENTITY } },
    requiredPermissions: (input) => onIdentityByAnyId("read_identity", input.identity),
    run: async ({ carryOut, latchkey }, input) => {
      const identityId = await findIdentityId(latchkey, input.identity);
      return { data: toIdentity(await carryOut({ identityId })) };
    },
  }),
  defineV2("identities.listIdentities", {
    description:
      "One page, in the order of creation, without metadata. A search looks at no more than 100 times `limit` identities: its " +
      "page may have few items, or none, and `hasMore` is true if there are more to look at.",
    input: z.strictObject({
      ...page,
      search: anyId.optional().describe("Part of an id or of an external id, in any case."),
    }),
    response: pageBody(identity),
    example: {
      input: { limit: 2 },
      response: { data: [IDENTITY], pagination: { hasMore: false } },
    },
    run: async ({ carryOut }, { search, limit = MOST_ITEMS, ...input }) => {
      const data: z.input<typeof identity>[] = [];
      let { cursor } = input;
      let damaged = 0;
      for (let reads = search === undefined ? 1 : MOST_READS; reads > 0; reads -= 1) {
        const found = await carryOut({ cursor, limit: limit - data.length });
        data.push(...found.identities.filter(isNamed(search)).map(toIdentity));
        cursor = found.cursor;
        damaged += found.damaged ?? 0;
        if (cursor === undefined || data.length === limit) break;
      }
      return { data, pagination: paginationOf({ cursor, ...(damaged > 0 && { damaged }) }) };
    },
  }),
  defineV2("identities.updateIdentity", {
    description:
      "Omitted fields stay unchanged; `meta: {}` and an empty list of limits clear. The next verification of its keys " +
      "sees the change.",
    input: z.strictObject({ ...either, meta, ratelimits }),
    response: dataBody(identity),
    example: {
      input: { identity: "user_1", meta: { plan: "pro" } },
      response: { data: IDENTITY },
    },
    requiredPermissions: (input) => onIdentityByAnyId("update_identity", input.identity),
    run: async ({ carryOut, latchkey }, { identity: id, ...wanted }) => {
      const find = async () => ({ identityId: await findIdentityId(latchkey, id) });
      return { data: toIdentity(await carryOut({ identityId: id, ...wanted }, find)) };
    },
  }),
  defineV2("identities.deleteIdentity", {
    description: "Its keys stay valid, without an owner. To revoke them, delete them first.",
    input: z.strictObject(either),
    response: dataBody(empty),
    example: { input: { identity: "user_1" }, response: { data: {} } },
    requiredPermissions: (input) => onIdentityByAnyId("delete_identity", input.identity),
    run: async ({ carryOut, latchkey }, input) => {
      await carryOut({ identityId: input.identity }, async () => ({
        identityId: await findIdentityId(latchkey, input.identity),
      }));
      return { data: {} };
    },
  }),
];

/** Whether its id or external id contains the search text. */
function isNamed(search = "") {
  const wanted = search.toLowerCase();
  return (one: { readonly id: string; readonly externalId: string }) =>
    [one.id, one.externalId].some((text) => text.toLowerCase().includes(wanted));
}
