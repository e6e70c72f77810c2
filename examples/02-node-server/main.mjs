import { createServer } from "node:http";
import { createGuard } from "@latchkey/guard/node";
import {
  createHandler,
  createLatchkey,
  keyRingsFromEnv,
  openStore,
  toNodeListener,
} from "latchkey";

const { STORE_URL = "memory:", PORT = "4100", API_ID } = process.env;

// The service itself: times of high water for each harbour.
/** @type {ReadonlyMap<string, readonly string[]>} */
const highWater = new Map([
  ["northmouth", ["03:12", "15:41"]],
  ["eastness", ["05:27", "17:50"]],
]);

// Its keys: a store chosen by configuration, and the HTTP API next to the service's own routes.
const latchkey = createLatchkey({ store: openStore(STORE_URL), ...keyRingsFromEnv() });
const apiId = API_ID ?? (await latchkey.ensureApi({ name: "tide-tables" })).apiId;
const keyManagement = toNodeListener(createHandler({ latchkey }));
const guard = createGuard(latchkey);

// Any valid key of this API. The key's own default limit applies without being named.
const tides = guard({ apiId }, (request, response, { remaining: usesLeft }) => {
  const harbour = harbourOf(request);
  reply(response, 200, { harbour, highWater: highWater.get(harbour), usesLeft });
});

// Needs a permission, and counts against a limit that all keys of a customer share.
const charts = guard(
  { apiId, permissions: "charts.read", ratelimits: [{ name: "charts" }] },
  (request, response) => {
    const harbour = harbourOf(request);
    reply(response, 200, { harbour, chart: `/files/${harbour}.pdf` });
  },
);

const server = createServer((request, response) => {
  if (request.url?.startsWith("/v1/")) return keyManagement(request, response);
  // Before any guard: a request for a harbour that does not exist takes no use.
  if (!highWater.has(harbourOf(request))) return reply(response, 404, { error: "NOT_FOUND" });
  if (request.url?.startsWith("/tides/")) return tides(request, response);
  if (request.url?.startsWith("/charts/")) return charts(request, response);
  return reply(response, 404, { error: "NOT_FOUND" });
});

/** @param {import("node:http").IncomingMessage} request */
function harbourOf(request) {
  // Not `new URL`: it throws for "//", and an error outside of a guard ends the process.
  const [, , harbour = ""] = request.url?.split(/[/?]/) ?? [];
  return harbour;
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {unknown} body
 */
function reply(response, status, body) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}

server.listen(Number(PORT), "127.0.0.1", async () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
  console.log(`http://127.0.0.1:${address.port}`);
  if (API_ID !== undefined) return;
  // First start: print what you need to issue keys. The root key is shown only once.
  const { key } = await latchkey.createRootKey({ permissions: ["*"] });
  console.log(`API_ID=${apiId}`);
  console.log(`ROOT_KEY=${key}`);
});

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, () => server.close(() => latchkey.close()));
}
