// @ts-nocheck: no compiler knows what it does to Object.prototype.
// Sends requests that a handler must refuse, with every name of the sources on Object.prototype.

import { createLatchkey } from "@latchkey/core";
import { createHandler } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { tell } from "../../../../.ci/polluted.mjs";

const latchkey = createLatchkey({ store: memoryStore() });
const { apiId } = await latchkey.createApi({ name: "tiles" });
const { key, keyId } = await latchkey.createKey({ apiId });
const issue = async (...permissions) => (await latchkey.createRootKey({ permissions })).key;
const weak = await issue("api.*.read_api");
const verifier = await issue("api.*.verify_key");
const revoked = await latchkey.createRootKey({ permissions: ["*"] });
await latchkey.revokeRootKey({ rootKeyId: revoked.rootKeyId });
const onError = () => undefined;
const handler = createHandler({ latchkey, onError });
/** Whether the handler admits a request. */
const isDone = async (path, token, body, by = handler) => {
  const headers = {
    "content-type": "application/json",
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  const method = body === undefined ? "GET" : "POST";
  const request = new Request(`http://localhost/${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await by(request)).status < 300;
};

const path = "v1/keys.updateKey";
const body = { keyId, name: "taken" };
const checks = {};
checks["a change without a root key"] = () => isDone(path, null, body);
checks["a change with a root key that may not"] = () => isDone(path, weak, body);
checks["a new key without a root key"] = () => isDone("v1/keys.createKey", null, { apiId });
checks["v2 without a root key"] = () => isDone("v2/keys.createKey", null, { apiId });
checks["a query with a root key that may not"] = () =>
  isDone(`v1/keys.getKey?keyId=${keyId}`, weak);
checks["an unknown root key"] = () => isDone(path, "no-such-key", body);
checks["a root key that was revoked"] = () => isDone(path, revoked.key, body);
checks["a root key that may verify"] = () => isDone(path, verifier, body);
checks["a verification without a root key"] = () => isDone("v1/keys.verifyKey", null, { key });
checks["a handler that is made meanwhile"] = () =>
  isDone("v1/keys.verifyKey", null, { key }, createHandler({ latchkey, onError }));
checks["an unknown session of the portal"] = async () =>
  (await latchkey.openPortalSession("no-such-session")) !== null;

await tell(checks, "http/src", "core/src/operations/root-keys");
