import { createServer } from "node:http";
import {
  createHandler,
  createLatchkey,
  keyRingsFromEnv,
  openStore,
  toNodeListener,
} from "latchkey";
import { createGuard } from "./guard.mjs";

const { STORE_URL = "memory:", PORT = "4100", API_ID } = process.env;

// The service as it was before: times of high water, harbour by harbour.
/** @type {ReadonlyMap<string, readonly string[]>} */
const highWater = new Map([
  ["northmouth", ["03:12", "15:41"]],
  ["eastness", ["05:27", "17:50"]],
]);

// What makes its keys: a store picked by configuration, and the HTTP contract beside the service's own routes.
const latchkey = createLatchkey({ store: openStore(STORE_URL), ...keyRingsFromEnv() });
const apiId = API_ID ?? (await latchkey.createApi({ name: "tide-tables" })).apiId;
const guard = createGuard(latchkey, apiId);
const keyManagement = toNodeListener(createHandler({ latchkey }));

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (pathname.startsWith("/v1/")) return keyManagement(request, response);

  const [, collection, harbour = ""] = pathname.split("/");
  const times = highWater.get(harbour);
  if (times === undefined) return reply(404, { error: "NOT_FOUND" });

  if (collection === "tides") {
    // Any good key; a limit of the key itself applies without being named.
    const caller = await guard(request, response);
    if (caller !== null) reply(200, { harbour, highWater: times, usesLeft: caller.remaining });
  } else if (collection === "charts") {
    // Needs a permission, and takes from a limit that all keys of one customer share.
    const caller = await guard(request, response, {
      authorization: { permissions: "charts.read" },
      ratelimits: [{ name: "charts" }],
    });
    if (caller !== null) reply(200, { harbour, chart: `/files/${harbour}.pdf` });
  } else reply(404, { error: "NOT_FOUND" });

  /**
   * @param {number} status
   * @param {unknown} body
   */
  function reply(status, body) {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(body));
  }
});

server.listen(Number(PORT), "127.0.0.1", async () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
  console.log(`http://127.0.0.1:${address.port}`);
  if (API_ID !== undefined) return;
  // First start: what is needed to issue keys. Nobody can read the root key again.
  const { key } = await latchkey.createRootKey({ permissions: ["*"] });
  console.log(`API_ID=${apiId}`);
  console.log(`ROOT_KEY=${key}`);
});

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, () => server.close(() => latchkey.close()));
}
