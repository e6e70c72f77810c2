import { serve } from "@hono/node-server";
import { createGuard } from "@latchkey/guard/hono";
import { Hono } from "hono";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4108" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

const app = new Hono();
app.get("/tiles/:zoom", guard({ permissions: "tiles.read" }), (c) => {
  const { keyId, remaining } = c.get("apiKey");
  return c.json({ zoom: c.req.param("zoom"), keyId, usesLeft: remaining });
});

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

const server = serve(
  { fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" },
  ({ port }) => {
    console.log(`http://127.0.0.1:${port}/tiles/7`);
    console.log(key);
  },
);

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
