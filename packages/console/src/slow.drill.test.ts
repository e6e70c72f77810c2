import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { mount } from "./testing/mounted.js";

const OPERATOR = {
  authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
};

describeInBrowser("a slow server", (open) => {
  test("that answers later than the polling interval is asked only once at a time, and its answers are shown", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { keyId } = await latchkey.createKey({ apiId, name: "map server" });
    const { page } = await open(origin);
    let [running, most] = [0, 0];
    await page.route("**/v1/keys.getKey*", async (route) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 2_600));
      running -= 1;
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${url}#/keys/${keyId}`);
    await page.getByRole("heading", { name: "map server" }).waitFor({ timeout: 30_000 });
    expect(most).toBe(1);
  });

  test("still shows a new secret if Escape is pressed while a key is created or rotated", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { page } = await open(origin);
    await page.route(/createKey|rotateKey/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      await route.continue();
    });
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await page.waitForTimeout(100);
    await page.keyboard.press("Escape");
    await page.locator("output").waitFor({ timeout: 30_000 });
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByRole("button", { name: "Rotate" }).click();
    await dialog.getByRole("button", { name: "Rotate" }).click();
    await page.waitForTimeout(100);
    await page.keyboard.press("Escape");
    await page.locator("output").waitFor({ timeout: 30_000 });
  });

  test("undoes the back button while a key is created and while its secret is shown, but not afterwards", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { page } = await open(origin);
    await page.route(/createKey/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      await route.continue();
    });
    await page.goto(`${url}#/apis`);
    await page.getByRole("link", { name: "maps" }).click();
    const create = page.getByRole("button", { name: "Create key" });
    await create.click();
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.waitForTimeout(100);
    await page.goBack();
    const secret = (await page.locator("output").textContent()) ?? "";
    await page.goBack();
    await page.waitForTimeout(100);
    expect(await page.locator("output").textContent()).toBe(secret);
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.goBack();
    await page.waitForURL(`${url}#/apis/${apiId}`);
  });

  test("creates no second key if a call is repeated after a lost answer, and the page says that the secret is lost", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { page } = await open(origin);
    const lose = async () => {
      await page.route(/createKey|rotateKey/, async (route) => {
        await page.unroute(/createKey|rotateKey/);
        await route.fetch();
        await route.abort();
      });
    };
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("map server");
    for (const what of ["Create key", "Rotate"]) {
      await lose();
      await dialog.getByRole("button", { name: what }).click();
      await dialog.getByText("The server is not responding.").waitFor();
      await dialog.getByRole("button", { name: what }).click();
      await dialog.getByText("The new secret was lost").waitFor();
      await dialog.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "map server" }).waitFor();
      await page.getByRole("button", { name: "Rotate" }).click();
    }
    await dialog.getByRole("button", { name: "Rotate" }).click();
    const secret = (await page.locator("output").textContent()) ?? "";
    expect(await latchkey.verifyKey({ key: secret })).toMatchObject({ valid: true });
    expect((await latchkey.listKeys({ apiId })).total).toBe(3);
  });

  test("executes a repeated call after a lost answer if its effect was undone meanwhile", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const owner = { apiId, externalId: "northwind" };
    const { key } = await latchkey.createKey({ ...owner, name: "map server" });
    const { id } = await latchkey.getIdentity({ externalId: "northwind" });
    const { page } = await open(origin);
    const dialog = page.getByRole("dialog");
    const act = async (open: string, submit: string) => {
      await page.getByRole("button", { name: open, exact: true }).click();
      await dialog.getByRole("button", { name: submit, exact: true }).click();
    };
    const loseAnswerOf = (path: string) =>
      page.route(path, async (route) => {
        await page.unroute(path);
        await route.fetch();
        await route.abort();
      });
    await page.goto(`${url}#/identities/${id}`);
    await page.getByRole("link", { name: "map server" }).waitFor();
    await loseAnswerOf("**/apis.disableKeys");
    await act("Disable all keys", "Disable all keys");
    await dialog.getByText("The server is not responding.").waitFor();
    await page.keyboard.press("Escape");
    await act("Enable all keys", "Enable all keys");
    await page.getByText("1 key of northwind: enabled.").waitFor();
    await act("Disable all keys", "Disable all keys");
    await page.getByText("1 key of northwind: disabled.").waitFor();
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });

    const create = async () => {
      await page.getByRole("button", { name: "Create key" }).click();
      await dialog.getByLabel("Name").fill("build server");
      await dialog.getByRole("button", { name: "Create key" }).click();
    };
    await page.goto(`${url}#/apis/${apiId}`);
    await loseAnswerOf("**/keys.createKey");
    await create();
    await dialog.getByText("The server is not responding.").waitFor();
    await page.keyboard.press("Escape");
    const { keys } = await latchkey.listKeys({ apiId, nameContains: "build" });
    await page.goto(`${url}#/keys/${keys[0]?.id}`);
    await act("Delete", "Delete key");
    await page.getByRole("heading", { name: "maps" }).waitFor();
    await create();
    const secret = (await page.locator("output").textContent()) ?? "";
    expect(await latchkey.verifyKey({ key: secret })).toMatchObject({ valid: true });
  });

  test("does not make an owner seem to have no keys before they are loaded", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { key } = await latchkey.createKey({ apiId, externalId: "northwind" });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "northwind" });
    const { page } = await open(origin);
    await page.route("**/v1/keys.listKeys*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByRole("button", { name: "Delete owner" }).click();
    const form = page.getByRole("dialog");
    expect(await form.textContent()).not.toContain("It has no keys");
    await form.getByRole("button", { name: "Delete owner" }).click();
    await form.waitFor({ state: "detached" });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: false });
  });
});
