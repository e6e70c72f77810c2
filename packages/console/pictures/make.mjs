// Makes the pictures of the README, of a build that is up to date:
//   npm run build && node packages/console/pictures/make.mjs

import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { chromium } from "playwright-core";
import { createLinkConsole } from "../dist/index.js";

const DAY = 86_400_000;

let ahead = -29 * DAY;
const latchkey = createLatchkey({
  store: memoryStore(),
  clock: () => Date.now() + ahead,
  usage: { flushMs: 20 },
});

/** @returns {Promise<{ apiId: string, keyId: string, identityId: string }>} */
async function seed() {
  for (const name of ["tiles.read", "tiles.write", "routes.read"])
    await latchkey.createPermission({ name });
  await latchkey.createRole({ name: "reader", permissions: ["tiles.read", "routes.read"] });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const { identityId } = await latchkey.createIdentity({ externalId: "northwind" });
  const owner = { apiId, externalId: "northwind", prefix: "maps" };
  const { keyId, key } = await latchkey.createKey({
    ...owner,
    name: "map server",
    environment: "live",
    roles: ["reader"],
    remaining: 4_000,
    refill: { interval: "monthly", amount: 4_000 },
    ratelimit: { limit: 60, duration: 60_000 },
    meta: { plan: "pro", region: "eu" },
    tags: ["team:tiles"],
  });
  await latchkey.createKey({ ...owner, name: "old build server", enabled: false });
  await latchkey.createKey({
    ...owner,
    name: "nightly export",
    expires: latchkey.now() + 45 * DAY,
  });
  for (const name of ["trial", "mobile app", "partner site", "dashboard", "staging"])
    await latchkey.createKey({
      apiId,
      prefix: "maps",
      name,
      externalId: "contoso",
      remaining: 2_000,
    });
  for (let day = 0; day < 30; day += 1) {
    const count = 30 + ((day * 37) % 45);
    for (let at = 0; at < count; at += 1) await latchkey.verifyKey({ key });
    ahead = Math.min(0, ahead + DAY);
  }
  for (let at = 0; at < 70; at += 1) await latchkey.verifyKey({ key });
  return { apiId, keyId, identityId };
}

const { apiId, keyId } = await seed();
const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = /** @type {import("node:net").AddressInfo} */ (server.address());
const { listener, link } = createLinkConsole(latchkey, { port: address.port });
server.on("request", listener);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({
  viewport: { width: 1_120, height: 760 },
  locale: "en-GB",
  reducedMotion: "reduce",
});
await page.goto(link);
await page.getByRole("link", { name: "Audit log" }).waitFor();
const PICTURES = [
  ["key", `#/keys/${keyId}`, "Left now"],
  ["keys", `#/apis/${apiId}`, "shown"],
  ["usage", `#/keys/${keyId}?tab=usage`, "As a table"],
];
for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  await page.emulateMedia({ colorScheme });
  for (const [name, fragment, sign] of PICTURES) {
    if (colorScheme === "dark" && name !== "key") continue;
    await page.goto(`${new URL(link).origin}/${fragment}`);
    await page
      .getByText(sign ?? "")
      .first()
      .waitFor();
    const path = fileURLToPath(new URL(`${name}-${colorScheme}.png`, import.meta.url));
    await page.screenshot({ path });
  }
}
await browser.close();
server.closeAllConnections();
server.close();
await latchkey.close();
