import { createServer } from "node:http";
import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { createLinkConsole } from "./link-console.js";
import { listen, openLatchkey } from "./testing/fixture.js";
import { mount } from "./testing/mounted.js";
import { seed } from "./testing/seeded.js";
import { watchFocus } from "./testing/watch-page.js";

describeInBrowser("a console that is interrupted", (open) => {
  test("if the root key is revoked while a form is open, the typed text stays, and is sent after signing in again", async () => {
    const { latchkey, origin, url } = await mount();
    const { apiId } = await seed(latchkey);
    const first = await latchkey.createRootKey({ permissions: ["*"] });
    const second = await latchkey.createRootKey({ permissions: ["*"] });
    const { page, strayRequests } = await open(origin);
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByLabel("Root key").fill(first.key);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByLabel("Name").fill("typed with care");
    await form.getByLabel("Metadata").fill('{"plan":"pro"}');
    await latchkey.revokeRootKey({ rootKeyId: first.rootKeyId });
    await form.getByRole("button", { name: "Create key" }).click();
    const again = page.getByRole("dialog", { name: "You are signed out" });
    await again.getByLabel("Root key").fill(first.key);
    await page.keyboard.press("Enter");
    await again.getByText("This root key is not valid").waitFor();
    await again.getByLabel("Root key").fill(second.key);
    await page.keyboard.press("Enter");
    await again.waitFor({ state: "detached" });
    expect(await form.getByLabel("Name").inputValue()).toBe("typed with care");
    await form.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByRole("heading", { name: "typed with care" }).waitFor();
    await page.getByText('"plan": "pro"').waitFor();
    expect(strayRequests).toEqual([]);
  });

  test("while a new secret is shown, the browser asks before it leaves the page, and not after", async () => {
    const { latchkey, origin, url } = await mount();
    const { apiId } = await seed(latchkey);
    const { key } = await latchkey.createRootKey({ permissions: ["*"] });
    const { page } = await open(origin);
    const questions: string[] = [];
    page.on("dialog", (dialog) => {
      questions.push(dialog.type());
      return dialog.dismiss();
    });
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByLabel("Root key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByRole("button", { name: "Create key" }).click();
    const saved = page.getByRole("button", { name: "I have saved it" });
    await saved.waitFor();
    await page.evaluate("location.reload()");
    await expect.poll(() => questions).toEqual(["beforeunload"]);
    await saved.click();
    await saved.waitFor({ state: "detached" });
    await page.reload();
    expect(questions).toEqual(["beforeunload"]);
  });

  test("if the server fails, the page shows the id of the request, which the operator is asked to quote", async () => {
    const reported: string[] = [];
    const { latchkey, origin, url } = await mount({
      authenticate: ({ url: asked }) => {
        if (asked.includes("/v1/apis.createApi")) throw new Error("the host's sign-in is down");
        return { workspaceId: "ws_default", permissions: ["*"] };
      },
      onError: (_, requestId) => reported.push(requestId),
    });
    await seed(latchkey);
    const { page } = await open(origin);
    await page.goto(`${url}#/apis`);
    await page.getByRole("button", { name: "Create API" }).click();
    const form = page.getByRole("dialog", { name: "Create API" });
    await form.getByLabel("Name").fill("typed with care");
    await form.getByRole("button", { name: "Create API" }).click();
    await form.getByText("Something went wrong.").waitFor();
    expect(reported).toEqual([expect.stringMatching(/^req_/)]);
    expect(await form.getByRole("alert").textContent()).toContain(reported[0]);
  });

  test("if the store is down, the page says so, keeps the typed text, and a retry succeeds", async () => {
    const { latchkey, origin, url, setDown } = await mount({
      authenticate: ({ headers }) => {
        expect(headers.get("accept")).not.toBeNull();
        return { workspaceId: "ws_default", permissions: ["*"] };
      },
    });
    const { apiId } = await seed(latchkey);
    const { page } = await open(origin);
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByLabel("Name").fill("typed with care");
    setDown(true);
    await form.getByRole("button", { name: "Create key" }).click();
    await form.getByText("The store is down.").waitFor();
    expect(await form.getByLabel("Name").inputValue()).toBe("typed with care");
    setDown(false);
    await form.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByRole("heading", { name: "typed with care" }).waitFor();
    setDown(true);
    await page.goto(`${url}#/identities`);
    await page.getByText("The store is down.").waitFor();
    setDown(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("link", { name: "northwind" }).waitFor();
  });

  test("a key is shown before the name of its API has loaded, and that name takes the focus from nothing", async () => {
    const { latchkey, origin, url } = await mount({
      authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
    });
    const { good } = await seed(latchkey);
    const { page } = await open(origin);
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/v1/apis.getApi*", async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${url}#/keys/${good.keyId}`);
    const focused = await watchFocus(page);
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").waitFor();
    answer();
    await page.locator("nav a", { hasText: "maps" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("Rotate");
  });

  test("wrong input is refused by field, and invalid JSON in metadata before anything is sent", async () => {
    const { latchkey, origin, url } = await mount({
      authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
    });
    const { apiId } = await seed(latchkey);
    const { page, requests } = await open(origin);
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByLabel("Metadata").fill("{plan}");
    await form.getByRole("button", { name: "Create key" }).click();
    await form.getByText("Metadata must be a JSON object").waitFor();
    expect(requests.filter((path) => path.includes("createKey"))).toEqual([]);
    await form.getByLabel("Metadata").fill("");
    await form.getByLabel("Prefix").fill("no spaces!");
    await form.getByRole("button", { name: "Create key" }).click();
    await form.locator("code", { hasText: "prefix" }).waitFor();
    await form.getByLabel("Prefix").fill("");
    await form.getByLabel("Permissions").fill("missing.one");
    await form.getByRole("button", { name: "Create key" }).click();
    await form.getByText("missing.one").waitFor();
  });

  test("a link signs in once, leaves no token in the address, and an ended sign-in says what to do", async () => {
    const latchkey = openLatchkey();
    const server = createServer();
    const origin = await listen(server);
    const { listener, link } = createLinkConsole(latchkey, {
      port: Number(new URL(origin).port),
      async *examine() {
        yield { check: "lists", state: "wrong", found: "the list of keys has 5 entries" };
      },
    });
    server.on("request", listener);
    const { page, strayRequests, complaints } = await open(origin);
    await page.goto(link);
    await page.getByRole("link", { name: "Root keys" }).click();
    await page.getByText("No root keys").waitFor();
    const token = new URL(link).hash.split("=")[1] as string;
    expect(
      await page.evaluate("JSON.stringify([location.href, { ...localStorage }, document.cookie])"),
    ).not.toContain(token);
    await page.getByRole("button", { name: "Create root key" }).click();
    const form = page.getByRole("dialog", { name: "Create root key" });
    await form.getByLabel("Name").fill("reports");
    await form.getByLabel("Permissions").fill("api.*.read_api");
    await form.getByRole("button", { name: "Create root key" }).click();
    const secret = (await page.locator("output").textContent()) ?? "";
    expect(await latchkey.authenticateRootKey(secret)).toMatchObject({ kind: "authenticated" });
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByRole("button", { name: "Edit reports" }).click();
    const edit = page.getByRole("dialog");
    await edit.getByLabel("Name").fill("statements");
    await edit.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Rotate statements" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const next = (await page.locator("output").textContent()) ?? "";
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByText("rotated").waitFor();
    for (const key of [secret, next])
      expect(await latchkey.authenticateRootKey(key)).toMatchObject({ kind: "authenticated" });
    for (const at of [1, 0]) {
      await page.getByRole("button", { name: "Revoke statements" }).nth(at).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke root key" }).click();
      // The button with the focus disappeared with its row.
      await page.locator("h1:focus").waitFor();
      await page
        .getByRole("button", { name: "Revoke statements" })
        .nth(at)
        .waitFor({ state: "detached" });
    }
    await page.getByText("No root keys").waitFor();
    for (const key of [secret, next])
      expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
    await page.getByRole("link", { name: "Store" }).click();
    await page.getByRole("button", { name: "Examine" }).click();
    await page.getByText("the list of keys has 5 entries").waitFor();
    await page.reload();
    await page.getByRole("link", { name: "Store" }).waitFor();
    expect([strayRequests, complaints]).toEqual([[], []]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("to get a new link").waitFor();
    await page.goto(link);
    await page.getByText("to get a new link").waitFor();
  });
});
