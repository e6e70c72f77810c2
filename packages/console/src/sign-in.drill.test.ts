import { createServer } from "node:http";
import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { createLinkConsole } from "./link-console.js";
import { listen, openLatchkey } from "./testing/fixture.js";
import { mount } from "./testing/mounted.js";

describeInBrowser("signing in and out", (open) => {
  test("an operator sees nothing of the previous one in the same page", async () => {
    const { latchkey, origin, url } = await mount();
    const other = latchkey.workspace("ws_other");
    const { apiId } = await latchkey.createApi({ name: "maps of the first" });
    await latchkey.createKey({ apiId, name: "key of the first" });
    await other.createApi({ name: "maps of the second" });
    const first = await latchkey.createRootKey({ permissions: ["*"] });
    const second = await other.createRootKey({ permissions: ["*"] });
    const { page } = await open(origin);
    await page.goto(url);
    await page.getByLabel("Root key").fill(first.key);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "APIs" }).click();
    await page.getByText("maps of the first").waitFor();
    await page.getByRole("link", { name: "Find keys" }).click();
    await page.getByText("key of the first").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Root key").fill(second.key);
    await page.keyboard.press("Enter");
    await page.getByText("ws_other").waitFor();
    await page.getByText("No keys yet").waitFor();
    expect(await page.locator("body").textContent()).not.toContain("of the first");
    await page.getByRole("link", { name: "APIs" }).click();
    await page.getByText("maps of the second").waitFor({ timeout: 30_000 });
    expect(await page.locator("body").textContent()).not.toContain("of the first");
  });

  test("a shortened root key is refused as such, and not reported as an unreachable server", async () => {
    const { origin, url } = await mount();
    const { page } = await open(origin);
    await page.goto(url);
    await page.getByLabel("Root key").fill("lk_root_3fA…");
    await page.keyboard.press("Enter");
    await page.getByText("This root key is not valid.").waitFor();
  });

  test("a permission for a deleted API hides no other API, and prevents no revocation", async () => {
    const { latchkey, origin, url } = await mount();
    const { apiId: gone } = await latchkey.createApi({ name: "gone" });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key } = await latchkey.createKey({ apiId, externalId: "northwind" });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "northwind" });
    const actions = ["read_api", "read_key", "delete_key"];
    const root = await latchkey.createRootKey({
      permissions: [
        "identity.*.read_identity",
        ...[gone, apiId].flatMap((id) => actions.map((action) => `api.${id}.${action}`)),
      ],
    });
    await latchkey.deleteApi({ apiId: gone });
    const { page } = await open(origin);
    await page.goto(`${url}#/apis`);
    await page.getByLabel("Root key").fill(root.key);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "maps", exact: true }).waitFor();
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByText("1 shown").waitFor();
    await page.getByRole("button", { name: "Revoke all keys" }).click();
    await page.getByRole("button", { name: "Revoke 1 key" }).click();
    await page.getByText("1 key of northwind: revoked.").waitFor();
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "NOT_FOUND" });
  });

  test("if the server does not answer while somebody signs in again, the typed text stays", async () => {
    let isIn = true;
    const { latchkey, origin, url, setDown } = await mount({
      authenticate: () => (isIn ? { workspaceId: "ws_default", permissions: ["*"] } : null),
    });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { page } = await open(origin);
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByLabel("Name").fill("typed with care");
    isIn = false;
    await form.getByRole("button", { name: "Create key" }).click();
    const again = page.getByRole("dialog", { name: "You are signed out" });
    await again.waitFor();
    isIn = true;
    setDown(true);
    await again.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The store is down.").waitFor();
    setDown(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await again.waitFor({ state: "detached" });
    expect(await form.getByLabel("Name").inputValue({ timeout: 30_000 })).toBe("typed with care");
  });

  test("a new link pasted into the page of the old one signs in, and disappears from the address", async () => {
    const latchkey = openLatchkey();
    const server = createServer();
    const origin = await listen(server);
    const port = Number(new URL(origin).port);
    const first = createLinkConsole(latchkey, { port });
    let { listener } = first;
    server.on("request", (request, response) => listener(request, response));
    const { page } = await open(origin);
    await page.goto(first.link);
    await page.getByRole("link", { name: "APIs" }).click();
    await page.getByText("No APIs yet").waitFor();
    const second = createLinkConsole(latchkey, { port });
    listener = second.listener;
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByText("You are signed out").waitFor();
    await page.evaluate(`location.href = ${JSON.stringify(second.link)}`);
    await page.getByText("You are signed out").waitFor({ state: "detached", timeout: 30_000 });
    expect(page.url()).not.toContain("sign-in=");
  });
});
