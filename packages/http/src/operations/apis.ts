import {
  createApiInput,
  deleteApiInput,
  deleteKeysInput,
  getApiInput,
  listKeysInput,
} from "@latchkey/core";
import { onApi, onApiById } from "../needs.js";
import { define, type Operation } from "../operation.js";

/** What is done with an API and with all of its keys. */
export const APIS: readonly Operation[] = [
  define({
    name: "apis.createApi",
    method: "POST",
    input: createApiInput,
    needs: () => onApi(["create_api"]),
    run: ({ latchkey }, input) => latchkey.createApi(input),
  }),
  define({
    name: "apis.getApi",
    method: "GET",
    input: getApiInput,
    needs: ({ apiId }) => onApiById(apiId, "read_api"),
    run: ({ latchkey }, input) => latchkey.getApi(input),
  }),
  define({
    name: "apis.listKeys",
    method: "GET",
    input: listKeysInput,
    query: { limit: "integer", decrypt: "boolean", revalidateKeysCache: "boolean" },
    needs: ({ apiId, decrypt }) =>
      decrypt === true
        ? onApiById(apiId, "read_key", "read_api", "decrypt_key")
        : onApiById(apiId, "read_key", "read_api"),
    run: ({ latchkey }, input) => latchkey.listKeys(input),
  }),
  define({
    name: "apis.deleteApi",
    method: "POST",
    input: deleteApiInput,
    needs: ({ apiId }) => onApiById(apiId, "delete_api"),
    run: ({ latchkey }, input) => latchkey.deleteApi(input),
  }),
  define({
    name: "apis.deleteKeys",
    method: "POST",
    input: deleteKeysInput,
    needs: ({ apiId }) => onApiById(apiId, "delete_key"),
    run: ({ latchkey }, input) => latchkey.deleteKeys(input),
  }),
];
