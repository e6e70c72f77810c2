// Makes the pictures of the README from a current build:
//   npm run build && node packages/console/pictures/make.mjs

import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { chromium } from "playwright-core";
import { createConsole } from "../dist/node.js";

const DAY = 86_400_000;

let ahead = -29 * DAY;
const latchkey = createLatchkey({
  store: memoryStore(),
  clock: () => Date.now() + ahead,
  usage: { flushMs: 20 },
});

/** @returns {Promise<{ apiId: string, keyId: string, batchId: string, identityId: string }>} */
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
  const batch = await latchkey.createKey({ ...owner, name: "batch", remaining: 1_000 });
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
  await latchkey.createApi({ name: "routes" });
  await latchkey.reserve({ key: batch.key, remaining: { cost: 400 }, ttl: "1h" });
  await latchkey.createRootKey({ name: "billing", permissions: ["api.*.read_key"] });
  await latchkey.createRootKey({ name: "sign-up", permissions: ["api.*.create_key"] });
  return { apiId, keyId, batchId: batch.keyId, identityId };
}

// The first pictures show a rate limit without room: they are taken within the minute that used it up.
await sleep(60_000 - (Date.now() % 60_000));
const { apiId, keyId, batchId, identityId } = await seed();

/** Findings in the form of `latchkey doctor`. */
async function* examine() {
  yield { check: "store", state: /** @type {const} */ ("fine"), found: "it answers" };
  yield {
    check: "lists",
    state: /** @type {const} */ ("fine"),
    found: "9 keys, all of them listed",
  };
  yield {
    check: "leases",
    state: /** @type {const} */ ("wrong"),
    found: "a process that died holds 12 uses of 1 key; --fix mends it",
  };
}

const { events } = await latchkey.readEvents({ types: ["key.created"], limit: 2 });
/** Stands in for what `createWebhooks` returns. */
const webhooks = /** @type {any} */ ({
  workspaceId: latchkey.workspaceId,
  redeliver: async () => undefined,
  listDeadLetters: async () => ({
    deadLetters: events.map((event, at) => ({
      deadLetterId: `dl_${at}`,
      url: "https://billing.example/hooks",
      eventId: event.id,
      event,
      tries: 14,
      givenUpAt: Date.now() - at * 3_600_000,
      failure: "503",
    })),
  }),
});
const authenticate = () => ({
  workspaceId: latchkey.workspaceId,
  permissions: ["*"],
  actor: "console",
});
const server = createServer(
  createConsole(latchkey, { authenticate, rootKeys: true, examine, webhooks }),
);
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const origin = `http://127.0.0.1:${port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({
  viewport: { width: 1_120, height: 760 },
  locale: "en-GB",
  reducedMotion: "reduce",
});
await page.goto(`${origin}/`);
await page.getByRole("link", { name: "Audit log" }).waitFor();
/** Every page, and a text that is on it once it is loaded. */
const PICTURES = [
  ["check", "#/", "Why is it refused?"],
  ["apis", "#/apis", "routes"],
  ["keys", `#/apis/${apiId}`, "shown"],
  ["find", "#/keys?nameContains=build", "old build server"],
  ["key", `#/keys/${keyId}`, "Remaining now"],
  ["usage", `#/keys/${keyId}?tab=usage`, "As a table"],
  ["reservations", `#/keys/${batchId}?tab=reservations`, "400"],
  ["trail", `#/keys/${keyId}?tab=audit`, "key.created"],
  ["owners", "#/identities", "contoso"],
  ["owner", `#/identities/${identityId}`, "nightly export"],
  ["roles", "#/roles", "reader"],
  ["audit", "#/audit", "key.created"],
  ["dead-letters", "#/dead-letters", "billing.example"],
  ["root-keys", "#/root-keys", "sign-up"],
  ["store", "#/store", "Examine"],
];
for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  await page.emulateMedia({ colorScheme });
  for (const [name, fragment, sign] of PICTURES) {
    if (colorScheme === "dark" && name !== "key") continue;
    await page.goto(`${origin}/${fragment}`);
    await page
      .getByText(sign ?? "")
      .first()
      .waitFor();
    await page.waitForLoadState("networkidle");
    const path = fileURLToPath(new URL(`${name}-${colorScheme}.png`, import.meta.url));
    await page.screenshot({ path });
  }
}
await browser.close();
server.closeAllConnections();
server.close();
await latchkey.close();
