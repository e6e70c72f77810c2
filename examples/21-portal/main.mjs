// A site with its own sign-in, and the portal on /account/keys: signed-in customers manage their own keys.

import { pathToFileURL } from "node:url";
import { createPortal } from "@latchkey/portal/express";
import express from "express";
import { createLatchkey, memoryStore } from "latchkey";

/** Starts the site. @param {number} port */
export async function start(port) {
  const latchkey = createLatchkey({ store: memoryStore() });
  const { apiId } = await latchkey.ensureApi({ name: "maps" });
  await latchkey.ensurePermissions(["tiles.read", "tiles.write"]);

  /** The site's own sign-in, as simple as can be. @param {string | null | undefined} cookies */
  const customerOf = (cookies) => /(?:^|; )login=(\w+)/.exec(cookies ?? "")?.[1] ?? null;

  const app = express();
  app.get("/login/:customer", (request, response) => {
    response.cookie("login", request.params.customer, { httpOnly: true, sameSite: "lax" });
    response.redirect("/account/keys/");
  });
  app.use(
    "/account/keys",
    createPortal(latchkey, {
      session: (request) => {
        const externalId = customerOf(request.headers.get("cookie"));
        if (externalId === null) return null;
        return {
          externalId,
          allow: {
            apiIds: [apiId],
            create: true,
            rotate: true,
            revoke: true,
            permissions: ["tiles.read", "tiles.write"],
            maxKeys: 5,
            ratelimits: [{ name: "default", limit: 100, duration: "1m" }],
          },
        };
      },
    }),
  );
  // The API that the keys are for.
  app.get("/tiles", async (request, response) => {
    const key = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const verdict = await latchkey.verifyKey({
      key,
      authorization: { permissions: "tiles.read" },
    });
    response.status(verdict.valid ? 200 : 401).json({ code: verdict.code });
  });
  const server = app.listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    origin: `http://localhost:${address.port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await latchkey.close();
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { origin } = await start(3000);
  console.log(`Open ${origin}/login/northwind`);
}
