import { describeInBrowser } from "@latchkey/http/testing";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { mount } from "./testing/mounted.js";
import { seed } from "./testing/seeded.js";

/** A console whose operator has the permissions, at an empty page. */
async function mountFor(permissions: string[]) {
  const operator = { workspaceId: "ws_default", permissions, actor: "alice" };
  const mounted = await mount({ authenticate: () => operator });
  return { ...mounted, permissions, ...(await seed(mounted.latchkey)) };
}

/** Goes to all links of the page that is open, and returns those to pages that the operator may not see. */
async function deadLinks(page: Page): Promise<string[]> {
  const found = await page.evaluate<string[]>(
    `[...new Set([...document.querySelectorAll("main a")].map((link) => link.getAttribute("href")))]`,
  );
  const dead: string[] = [];
  for (const link of found) {
    await page.evaluate(`location.hash = ${JSON.stringify(link)}`);
    await page.waitForTimeout(100);
    if ((await page.getByRole("heading", { name: "Page not found" }).count()) > 0) dead.push(link);
  }
  return dead;
}

describeInBrowser("the page of an owner, for an operator who cannot see all keys", (open) => {
  test("does not say that the owner has none", async () => {
    const { origin, url, identityId } = await mountFor(["identity.*.read_identity"]);
    const { page } = await open(origin);
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByText("You do not have permission to see the keys of all APIs.").waitFor();
    expect(await page.getByText("This owner has no keys").count()).toBe(0);
  });

  test("says that keys are left out", async () => {
    const { origin, url, identityId, apiId, permissions } = await mountFor([
      "identity.*.read_identity",
    ]);
    permissions.push(`api.${apiId}.read_api`, `api.${apiId}.read_key`);
    const { page } = await open(origin);
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByText("map server").waitFor();
    expect(await page.getByText("Keys of APIs that you cannot see are left out.").count()).toBe(1);
  });
});

describeInBrowser("revoking all keys of an owner", (open) => {
  test("gives no number if the operator may revoke more keys than it can see", async () => {
    const { latchkey, origin, url, identityId, apiId, permissions } = await mountFor([
      "identity.*.read_identity",
      "api.*.delete_key",
    ]);
    permissions.push(`api.${apiId}.read_api`, `api.${apiId}.read_key`);
    const { apiId: otherApiId } = await latchkey.createApi({ name: "routes" });
    await latchkey.createKey({ apiId: otherApiId, externalId: "northwind" });
    const { page } = await open(origin);
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByText("2 shown").waitFor();
    await page.getByRole("button", { name: "Revoke all keys" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.textContent()).toContain("All keys of northwind are deleted");
    await dialog.getByRole("button", { name: "Revoke all keys" }).click();
    await page.getByText("3 keys of northwind: revoked.").waitFor();
  });

  test("counts only those that the operator may revoke, and says that others stay", async () => {
    const { latchkey, origin, url, identityId, apiId, permissions } = await mountFor([
      "identity.*.read_identity",
      "api.*.read_api",
      "api.*.read_key",
    ]);
    permissions.push(`api.${apiId}.delete_key`);
    const { apiId: otherApiId } = await latchkey.createApi({ name: "routes" });
    await latchkey.createKey({ apiId: otherApiId, externalId: "northwind" });
    const { page } = await open(origin);
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByText("3 shown").waitFor();
    await page.getByRole("button", { name: "Revoke all keys" }).click();
    const dialog = page.getByRole("dialog");
    const text = (await dialog.textContent()) ?? "";
    expect(text).toContain("All 2 keys of northwind in 1 API are deleted");
    expect(text).toContain("Keys in APIs where you may not do this stay as they are.");
    await dialog.getByRole("button", { name: "Revoke 2 keys" }).click();
    await page.getByText("2 keys of northwind: revoked.").waitFor();
    await page.getByText("1 shown").waitFor();
  });
});

describeInBrowser("a page", (open) => {
  test.each([
    ["a key", ["api.*.read_key"], ({ keyId }: { keyId: string }) => `#/keys/${keyId}`],
    ["keys", ["api.*.read_key", "api.*.read_api"], () => "#/keys"],
    ["the audit log", ["audit.*.read_audit"], () => "#/audit"],
  ])("of %s has no link to one that the operator may not see", async (_, permissions, placeOf) => {
    const { origin, url, good } = await mountFor(permissions);
    const { page } = await open(origin);
    await page.goto(url + placeOf(good));
    await page
      .getByText(permissions.includes("audit.*.read_audit") ? "key.created" : "northwind")
      .first()
      .waitFor();
    expect(await deadLinks(page)).toEqual([]);
  });
});
