// Makes the pictures of the README from a current build:
//   npm run build && node packages/portal/pictures/make.mjs

import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { chromium } from "playwright-core";
import { createPortal } from "../dist/node.js";

const DAY = 86_400_000;

let ahead = -29 * DAY;
const latchkey = createLatchkey({
  store: memoryStore(),
  clock: () => Date.now() + ahead,
  usage: { flushMs: 20 },
});
for (const name of ["tiles.read", "tiles.write"]) await latchkey.createPermission({ name });
const { apiId } = await latchkey.createApi({ name: "maps" });
const owner = { apiId, externalId: "northwind", prefix: "maps" };
const { key } = await latchkey.createKey({
  ...owner,
  name: "Map server",
  permissions: ["tiles.read"],
  ratelimit: { limit: 60, duration: "1m" },
});
await latchkey.createKey({
  ...owner,
  name: "Nightly export",
  remaining: 4_000,
  permissions: ["tiles.read", "tiles.write"],
  expires: latchkey.now() + 75 * DAY,
});
for (let day = 0; day < 30; day += 1) {
  const count = 30 + ((day * 37) % 45);
  for (let at = 0; at < count; at += 1) await latchkey.verifyKey({ key });
  ahead = Math.min(0, ahead + DAY);
}

const allow = {
  apiIds: [apiId],
  create: true,
  rotate: true,
  revoke: true,
  permissions: ["tiles.read", "tiles.write"],
};
const server = createServer(
  createPortal(latchkey, { session: () => ({ externalId: "northwind", allow }) }),
);
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = /** @type {import("node:net").AddressInfo} */ (server.address());

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({
  viewport: { width: 1_000, height: 720 },
  locale: "en-GB",
  colorScheme: "light",
  reducedMotion: "reduce",
});
/** @param {string} name */
const shoot = (name) =>
  page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, import.meta.url)) });
await page.goto(`http://127.0.0.1:${address.port}/`);
await page.getByRole("button", { name: "Usage: Map server" }).click();
await page.getByText("As a table").waitFor();
await shoot("keys-light");
await page.getByRole("button", { name: "Create key" }).click();
await page.getByRole("dialog").getByLabel("Name").fill("Build server");
await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
await page.locator("output").waitFor();
await shoot("secret-light");
await page.getByRole("button", { name: "I have saved it" }).click();
await page.setViewportSize({ width: 390, height: 780 });
await page.emulateMedia({ colorScheme: "dark" });
await page.reload();
await page.getByText("Nightly export").waitFor();
await shoot("phone-dark");
await browser.close();
server.closeAllConnections();
server.close();
await latchkey.close();
