import {
  createIdentityInput,
  getIdentityInput,
  listIdentitiesInput,
  updateIdentityInput,
} from "@latchkey/core";
import { onIdentity } from "../needs.js";
import { define, type Operation } from "../operation.js";

/** What is done with the users that keys belong to. */
export const IDENTITIES: readonly Operation[] = [
  define({
    name: "identities.createIdentity",
    method: "POST",
    input: createIdentityInput,
    needs: () => onIdentity("create_identity"),
    run: ({ latchkey }, input) => latchkey.createIdentity(input),
  }),
  define({
    name: "identities.getIdentity",
    method: "GET",
    input: getIdentityInput,
    needs: (ids) => onIdentity("read_identity", ids),
    run: ({ latchkey }, input) => latchkey.getIdentity(input),
  }),
  define({
    name: "identities.listIdentities",
    method: "GET",
    input: listIdentitiesInput,
    query: { limit: "integer" },
    needs: () => onIdentity("read_identity"),
    run: ({ latchkey }, input) => latchkey.listIdentities(input),
  }),
  define({
    name: "identities.updateIdentity",
    method: "POST",
    input: updateIdentityInput,
    needs: (ids) => onIdentity("update_identity", ids),
    run: ({ latchkey }, input) => latchkey.updateIdentity(input),
  }),
];
