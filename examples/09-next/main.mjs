import { serve } from "@hono/node-server";
import { latchkey } from "./guard.mjs";
import { GET } from "./route.mjs";

const { PORT = "4109" } = process.env;

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

/** Calls the route as Next.js does: with the request, and with its parameters as a promise. @param {Request} request */
const route = (request) => {
  const [, , zoom = ""] = new URL(request.url).pathname.split("/");
  return GET(request, { params: Promise.resolve({ zoom }) });
};

const server = serve({ fetch: route, port: Number(PORT), hostname: "127.0.0.1" }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/tiles/7`);
  console.log(key);
});

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
