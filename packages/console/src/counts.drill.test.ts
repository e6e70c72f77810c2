import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { mount } from "./testing/mounted.js";

const OPERATOR = {
  authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
};

describeInBrowser("figures about keys", (open) => {
  test("count each request once, even one that a shadow limit would have refused", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      ratelimits: [{ name: "default", limit: 2, duration: "1h", shadow: true }],
    });
    for (let count = 0; count < 5; count += 1) await latchkey.verifyKey({ key });
    const { page } = await open(origin);
    await page.goto(`${url}#/keys/${keyId}`);
    const told = page.getByRole("link", { name: "accepted" });
    await told.waitFor();
    await expect.poll(() => told.textContent()).toBe("5 accepted");
    await told.click();
    await page.getByText("5 valid, 0 refused").waitFor();
  });

  test("are not filtered by a day whose year has a digit too many: the form refuses it", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    await latchkey.createKey({ apiId, name: "map server" });
    const { page } = await open(origin);
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByText("map server").waitFor();
    await page.getByText("More filters").click();
    await page.getByLabel("Created since").fill("20261-01-01");
    await page.getByRole("button", { name: "Find" }).click();
    await page.locator("input[name=createdAfter]:invalid:focus").waitFor();
    expect(page.url()).not.toContain("createdAfter");
    await page.getByLabel("Created since").fill("2026-01-01");
    await page.getByRole("button", { name: "Find" }).click();
    await page.waitForURL(/createdAfter=\d+$/);
    await page.getByText("map server").waitFor();
  });

  test("of an owner with more than a thousand are not counted: the first are listed, and all are revoked", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const owned = { apiId, externalId: "northwind" };
    for (let made = 0; made < 1_200; made += 100)
      await Promise.all(Array.from({ length: 100 }, () => latchkey.createKey(owned)));
    const { id } = await latchkey.getIdentity({ externalId: "northwind" });
    const { page } = await open(origin);
    let lists = 0;
    page.on("request", (request) => {
      if (request.url().includes("keys.listKeys")) lists += 1;
    });
    await page.goto(`${url}#/identities/${id}`);
    await page.getByText("These are the first 1,000 keys.").waitFor();
    expect(lists).toBe(10);
    await page.getByRole("button", { name: "Revoke all keys" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^All keys of northwind are deleted/).waitFor();
    await dialog.getByRole("button", { name: "Revoke all keys" }).click();
    await page.getByText("1,200 keys of northwind: revoked.").waitFor();
    await page.getByText("This owner has no keys").waitFor();
  });
});
