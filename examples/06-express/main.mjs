import { createGuard } from "@latchkey/guard/express";
import express from "express";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4106" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

const app = express();
app.get("/tiles/:zoom", guard({ permissions: "tiles.read" }), (req, res) => {
  const { keyId, remaining } = res.locals.apiKey;
  res.json({ zoom: req.params.zoom, keyId, usesLeft: remaining });
});

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

const server = app.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
  console.log(`http://127.0.0.1:${address.port}/tiles/7`);
  console.log(key);
});

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
