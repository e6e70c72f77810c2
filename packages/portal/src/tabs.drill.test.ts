import { describeInBrowser } from "@latchkey/http/testing";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { mount, openSignedIn } from "./testing/fixture.js";

/** Fetches the answer to the next request of a path, but holds it back. @returns A function that delivers it. */
async function holdNext(page: Page, path: string): Promise<() => void> {
  let letGo = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(
    path,
    async (route) => {
      const response = await route.fetch();
      await gone;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  return letGo;
}

describeInBrowser("a portal in which several things happen at once", (open) => {
  test("has room for a key again after one was revoked in another tab", async () => {
    const { latchkey, apiId, origin, url } = await mount({ maxKeys: 1 });
    const { keyId } = await latchkey.createKey({ apiId, externalId: "alice", name: "old" });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByText("Active").waitFor();
    await latchkey.deleteKey({ keyId });
    const create = page.getByRole("button", { name: "Create key" });
    await create.click({ force: true });
    await page.getByText("You have reached the maximum number of keys: 1.").waitFor();
    await page.getByText("No keys yet").waitFor();
    await create.click();
    await page.getByRole("dialog", { name: "Create a key" }).waitFor();
  });

  test("shows no revoked key, even if an earlier answer arrives after a later one", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    await latchkey.createKey({ apiId, externalId: "alice", name: "old" });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByRole("button", { name: "Rename: old" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("new");
    const letGo = await holdNext(page, "**/keys.list*");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Revoke: old" }).click();
    await dialog.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByText("No keys yet").waitFor();
    const late = page.waitForResponse("**/keys.list*");
    letGo();
    await (await late).finished();
    await page.waitForTimeout(300);
    await page.getByText("No keys yet").waitFor({ timeout: 5_000 });
    expect(await page.getByRole("button", { name: "Revoke: new" }).count()).toBe(0);
  });

  test("keeps a form open until its answer arrives, and closes no other form instead", async () => {
    const { origin, url } = await mount();
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    await dialog.getByLabel("Name").fill("build server");
    const letGo = await holdNext(page, "**/keys.create");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Cancel" }).click({ force: true });
    await page.waitForTimeout(300);
    expect(await dialog.count()).toBe(1);
    letGo();
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByText("build server").waitFor();
  });
});
