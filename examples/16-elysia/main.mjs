import { node } from "@elysiajs/node";
import { createGuard } from "@latchkey/guard/elysia";
import { Elysia } from "elysia";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4116" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

const app = new Elysia({ adapter: node() })
  .use(guard({ permissions: "tiles.read" }))
  .get("/tiles/:zoom", ({ apiKey, params: { zoom } }) => ({
    zoom,
    keyId: apiKey.keyId,
    usesLeft: apiKey.remaining,
  }));

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

app.listen({ port: Number(PORT), hostname: "127.0.0.1" }, async (server) => {
  // The Node adapter adds `raw`, which the types (those of Bun) do not have.
  const { raw } = /** @type {any} */ (server);
  for (const signal of ["SIGTERM", "SIGINT"])
    process.once(signal, () => raw.close(true).then(() => latchkey.close()));
  await raw.ready();
  console.log(new URL("tiles/7", raw.url).href);
  console.log(key);
});
