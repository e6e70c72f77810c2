import { noAnswer } from "@latchkey/core";
import { describeInBrowser } from "@latchkey/http/testing";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { mount, openSignedIn } from "./testing/fixture.js";

describeInBrowser("a portal of which something is lost", (open) => {
  test("after a lost answer the new key is in the list, and the page does not claim that nothing was changed", async () => {
    const { latchkey, apiId, origin, url } = await mount({ maxKeys: 1 });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByText("No keys yet").waitFor();
    await page.route("**/keys.create", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("build server");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("the change may already be made").waitFor();
    await page.getByText("Active").waitFor({ state: "attached" });
    await page.keyboard.press("Escape");
    await page.getByText("build server").waitFor();
    expect((await latchkey.listKeys({ apiId })).total).toBe(1);
  });

  test("repeating a call after a lost answer creates nothing twice, and says that the secret is lost", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByText("No keys yet").waitFor();
    const again = async (dialog: Locator, name: string, path: string) => {
      await page.route(path, async (route) => {
        await route.fetch();
        await route.abort();
      });
      await dialog.getByRole("button", { name }).click();
      await dialog.getByText("Nothing is done twice").waitFor();
      await page.unroute(path);
      await dialog.getByRole("button", { name }).click();
      const lost = page.getByRole("dialog", { name: "The secret was lost" });
      await lost.getByRole("button", { name: "Continue" }).click();
      await lost.waitFor({ state: "detached" });
    };
    await page.getByRole("button", { name: "Create key" }).click();
    const creation = page.getByRole("dialog", { name: "Create a key" });
    await creation.getByLabel("Name").fill("build server");
    await creation.getByLabel("Expires").selectOption("30");
    await again(creation, "Create key", "**/keys.create");
    expect((await latchkey.listKeys({ apiId })).total).toBe(1);
    await page.getByRole("button", { name: "Rotate: build server" }).click();
    await again(page.getByRole("dialog"), "Rotate", "**/keys.rotate");
    expect((await latchkey.listKeys({ apiId })).total).toBe(2);
  });

  test("while a new secret is shown, the browser asks before it leaves the page, and not after", async () => {
    const { origin, url } = await mount();
    const { page } = await openSignedIn(open, origin);
    const questions: string[] = [];
    page.on("dialog", (dialog) => {
      questions.push(dialog.type());
      return dialog.dismiss();
    });
    await page.goto(url);
    await page.getByRole("button", { name: "Create key" }).click();
    const creation = page.getByRole("dialog", { name: "Create a key" });
    await creation.getByLabel("Name").fill("build server");
    await creation.getByLabel("Expires").selectOption("30");
    await creation.getByRole("button", { name: "Create key" }).click();
    const saved = page.getByRole("button", { name: "I have saved it" });
    await saved.waitFor();
    await page.evaluate("location.reload()");
    await expect.poll(() => questions).toEqual(["beforeunload"]);
    await saved.click();
    await page.reload();
    await page.getByText("build server").first().waitFor();
    expect(questions).toEqual(["beforeunload"]);
  });

  test("repeating a call after its key was revoked creates another key, and shows the secret", async () => {
    const { latchkey, origin, url } = await mount();
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByText("No keys yet").waitFor();
    const dialog = page.getByRole("dialog");
    const create = async () => {
      await page.getByRole("button", { name: "Create key" }).click();
      await dialog.getByLabel("Name").fill("build server");
      await dialog.getByRole("button", { name: "Create key" }).click();
    };
    await page.route("**/keys.create", async (route) => {
      await page.unroute("**/keys.create");
      await route.fetch();
      await route.abort();
    });
    await create();
    await dialog.getByText("the change may already be made").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Revoke: build server" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No keys yet").waitFor();
    await create();
    const key = (await page.locator("output").textContent()) ?? "";
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("if the outcome of a write is unknown, the page does not claim that nothing was changed", async () => {
    const { latchkey, origin, url } = await mount();
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByText("No keys yet").waitFor();
    const opened = latchkey.openPortalSession;
    Object.assign(latchkey, {
      openPortalSession: async (secret: string) => ({
        ...(await opened.call(latchkey, secret)),
        createMyKey: async () => {
          throw noAnswer(true, "the connection was lost");
        },
      }),
    });
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("build server");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("the change may already be made").waitFor();
  });

  test("a key that was revoked elsewhere leaves the list at the next action on it", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    const { keyId } = await latchkey.createKey({ apiId, externalId: "alice", name: "old" });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByRole("button", { name: "Rename: old" }).click();
    await latchkey.deleteKey({ keyId });
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("new");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("This key no longer exists.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("No keys yet").waitFor();
  });

  test("a new link in the page of an old one signs in, disappears from the address, and keeps the typed text", async () => {
    const { latchkey, apiId, origin, url } = await mount({}, { session: undefined } as never);
    const linkOf = (externalId: string) =>
      latchkey.createPortalSession({ externalId, allow: { apiIds: [apiId], create: true } });
    const first = await linkOf("alice");
    const { page } = await open(origin);
    await page.goto(`${url}#session=${first.secret}`);
    await page.getByText("No keys yet").waitFor();
    await latchkey.revokePortalSession({ sessionId: first.sessionId });
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    await dialog.getByLabel("Name").fill("typed before");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const over = page.getByRole("dialog", { name: "Your session has ended" });
    await over.waitFor();
    await over.getByRole("button", { name: "Continue" }).click();
    await over.getByText("You are still signed out.").waitFor();
    const second = await linkOf("alice");
    await page.evaluate(`location.href = ${JSON.stringify(`${url}#session=${second.secret}`)}`);
    await over.waitFor({ state: "detached" });
    expect(page.url()).toBe(url);
    expect(await dialog.getByLabel("Name").inputValue()).toBe("typed before");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have saved it" }).click();
    const third = await linkOf("bob");
    await page.getByRole("button", { name: "Rename: typed before" }).click();
    await page.evaluate(`location.href = ${JSON.stringify(`${url}#session=${third.secret}`)}`);
    await page.getByText("No keys yet").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});
