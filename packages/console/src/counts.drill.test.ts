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
});
