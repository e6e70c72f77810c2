import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { mount, openSignedIn, signIn } from "./testing/fixture.js";

describeInBrowser("a portal to which several sign in with one browser", (open) => {
  test("after a sign-in for fewer APIs, keys of the other APIs no longer count", async () => {
    const { latchkey, apiId, origin, url } = await mount({}, { session: undefined } as never);
    const { apiId: otherApiId } = await latchkey.createApi({ name: "charts" });
    for (const id of [apiId, otherApiId])
      await latchkey.createKey({ apiId: id, externalId: "alice", name: "one" });
    const linkTo = async (apiIds: readonly string[]) => {
      const allow = { apiIds, create: true, maxKeys: 2 };
      const { secret } = await latchkey.createPortalSession({ externalId: "alice", allow });
      return `${url}#session=${secret}`;
    };
    const { page } = await open(origin);
    await page.goto(await linkTo([apiId, otherApiId]));
    await page.locator('[aria-disabled="true"]', { hasText: "Create key" }).waitFor();
    await page.evaluate(`location.href = ${JSON.stringify(await linkTo([apiId]))}`);
    await page.getByRole("heading", { name: "charts" }).waitFor({ state: "detached" });
    await page.locator('[aria-disabled="false"]', { hasText: "Create key" }).click();
    await page.getByRole("dialog", { name: "Create a key" }).waitFor();
  });

  test("an expired link does not open the keys of the previous customer", async () => {
    const { latchkey, apiId, origin, url } = await mount({}, { session: undefined } as never);
    const linkOf = (externalId: string) =>
      latchkey.createPortalSession({ externalId, allow: { apiIds: [apiId], create: true } });
    await latchkey.createKey({ apiId, externalId: "alice", name: "of alice" });
    const { page } = await open(origin);
    await page.goto(`${url}#session=${(await linkOf("alice")).secret}`);
    await page.getByText("of alice").waitFor();
    const { secret, sessionId } = await linkOf("bob");
    await latchkey.revokePortalSession({ sessionId });
    await page.goto("about:blank");
    await page.goto(`${url}#session=${secret}`);
    await page.getByText("This link has expired.").waitFor();
    expect(await page.getByText("of alice").count()).toBe(0);
  });

  test("a form that one customer has begun does nothing for another who signed in meanwhile", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    await latchkey.createKey({ apiId, externalId: "bob", name: "of bob" });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    await dialog.getByLabel("Name").fill("meant for alice");
    await signIn(page, origin, "bob");
    const beside = await page.context().newPage();
    await beside.goto(url);
    await beside.getByText("of bob").waitFor();
    await dialog.getByRole("button", { name: "Create key" }).click();
    const over = page.getByRole("dialog", { name: "Your session has ended" });
    await over.getByRole("button", { name: "Continue" }).click();
    await page.getByText("of bob").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys.map(({ name }) => name)).toEqual(["of bob"]);
  });

  test("what one customer has done is not announced to the next", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    const { keyId } = await latchkey.createKey({ apiId, externalId: "alice", name: "of alice" });
    await latchkey.createKey({ apiId, externalId: "bob", name: "of bob" });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByRole("button", { name: "Rename: of alice" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByText("The key was renamed.").waitFor();
    await page.getByRole("button", { name: "Rename: of alice" }).click();
    await signIn(page, origin, "bob");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    const over = page.getByRole("dialog", { name: "Your session has ended" });
    await over.getByRole("button", { name: "Continue" }).click();
    await page.getByText("of bob").waitFor();
    expect(await page.getByText("The key was renamed.").count()).toBe(0);
    expect((await latchkey.getKey({ keyId })).name).toBe("of alice");
  });

  test("a link works behind a proxy that reads two slashes as one", async () => {
    const { latchkey, apiId, origin, url } = await mount({}, { session: undefined } as never);
    const allow = { apiIds: [apiId], create: true };
    const { secret } = await latchkey.createPortalSession({ externalId: "alice", allow });
    const { page } = await open(origin);
    const twice = url.replace(`${origin}/`, `${origin}//`);
    await page.route(`${twice}**`, async (route) => {
      const merged = route.request().url().replace(twice, url);
      await route.fulfill({ response: await route.fetch({ url: merged }) });
    });
    await page.goto(`${twice}#session=${secret}`);
    await page.getByText("No keys yet").waitFor({ timeout: 20_000 });
    expect(page.url()).toBe(twice);
  });

  test("a new secret of one customer is not shown to another who opens a link in the same page", async () => {
    const { latchkey, apiId, origin, url } = await mount({}, { session: undefined } as never);
    const linkOf = async (externalId: string) => {
      const allow = { apiIds: [apiId], create: true };
      const { secret } = await latchkey.createPortalSession({ externalId, allow });
      return `${url}#session=${secret}`;
    };
    await latchkey.createKey({ apiId, externalId: "bob", name: "of bob" });
    const { page } = await open(origin);
    await page.goto(await linkOf("alice"));
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    await dialog.getByLabel("Name").fill("of alice");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const secret = (await page.locator("output").textContent()) ?? "";
    expect(secret).not.toBe("");
    await page.evaluate(`location.href = ${JSON.stringify(await linkOf("bob"))}`);
    await page.getByText("of bob").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.content()).not.toContain(secret);
    await page.evaluate(`location.href = ${JSON.stringify(await linkOf("alice"))}`);
    await page.getByText(secret).waitFor();
  });
});
