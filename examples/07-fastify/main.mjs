import { createGuard } from "@latchkey/guard/fastify";
import Fastify from "fastify";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4107" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

const app = Fastify();
app.get("/tiles/:zoom", { onRequest: guard({ permissions: "tiles.read" }) }, async (request) => {
  const { zoom } = /** @type {{ zoom: string }} */ (request.params);
  return { zoom, keyId: request.apiKey.keyId, usesLeft: request.apiKey.remaining };
});

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => app.close().then(() => latchkey.close()));

const origin = await app.listen({ port: Number(PORT), host: "127.0.0.1" });
console.log(`${origin}/tiles/7`);
console.log(key);
