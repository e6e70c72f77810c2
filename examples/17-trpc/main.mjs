import { createGuard, refusalOf } from "@latchkey/guard/trpc";
import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4117" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

const t = initTRPC.create({
  errorFormatter: ({ shape, error }) => ({
    ...shape,
    data: { ...shape.data, refusal: refusalOf(error)?.code ?? null },
  }),
});
const router = t.router({
  tile: t.procedure
    .use(guard({ permissions: "tiles.read" }))
    .query(({ ctx }) => ({ keyId: ctx.apiKey.keyId, usesLeft: ctx.apiKey.remaining })),
});

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

const createContext = (/** @type {{ req: object, res: object }} */ { req, res }) => ({ req, res });
const server = createHTTPServer({ router, createContext });
server.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
  console.log(`http://127.0.0.1:${address.port}/tile`);
  console.log(key);
});

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
