import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describeInBrowser, type Watched } from "@latchkey/http/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { mount, proxyTo } from "./testing/mounted.js";
import { seed } from "./testing/seeded.js";

test("script and style together are at most 90 kB compressed", () => {
  const sizes = ["app.js", "app.css"].map((name) => {
    const content = readFileSync(new URL(`../dist/page/${name}`, import.meta.url));
    return gzipSync(content).byteLength;
  });
  expect(Math.max(...sizes)).toBeGreaterThan(1_000);
  expect(sizes[0]! + sizes[1]!).toBeLessThan(90_000);
});

function sqliteFile() {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-console-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return sqliteStore(join(folder, "keys.db"));
}

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

async function signIn({ page }: Watched, url: string, rootKey: string): Promise<void> {
  await page.goto(url);
  // The browser focuses the field when it first paints the page. If something has the focus by then, it notes in its console that it did not.
  await page.locator("input:focus").waitFor();
  await page.getByLabel("Root key").fill(rootKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Check a key" }).waitFor();
}

/** Every place where a secret could have been left behind. */
async function traces({ page, requests, complaints }: Watched): Promise<string> {
  const inPage = await page.evaluate(`JSON.stringify([
    document.documentElement.outerHTML,
    [...document.querySelectorAll("input, textarea, select")].map((field) => field.value),
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
    performance.getEntries().map((entry) => entry.name),
  ])`);
  return JSON.stringify([inPage, requests, complaints]);
}

/** Asserts that no request went to another origin, and that the browser's console is empty. */
function expectQuiet({ strayRequests, complaints }: Watched): void {
  expect(strayRequests).toEqual([]);
  expect(complaints).toEqual([]);
}

describeInBrowser("the console in a browser", (open) => {
  test("on SQLite: create, copy, verify, explain, revoke; no secret stays in the page, its address, storage or history", async () => {
    const { latchkey, origin, url } = await mount({}, sqliteFile());
    const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
    const watched = await open(origin, CLIPBOARD);
    const { page } = watched;
    await signIn(watched, url.slice(0, -1), rootKey);

    await page.getByRole("link", { name: "APIs", exact: true }).click();
    await page.getByText("No APIs yet").waitFor();
    await page.getByRole("button", { name: "Create API" }).click();
    await page.getByLabel("Name").fill("maps");
    await page.getByRole("dialog").getByRole("button", { name: "Create API" }).click();
    await page.getByText("No keys in this API").waitFor();

    await page.getByRole("button", { name: "Settings" }).click();
    const settings = page.getByRole("dialog");
    await settings.getByLabel("Expire after").fill("90d");
    await settings.getByLabel("Maximum rate limit").fill("50/1m");
    await settings.getByRole("button", { name: "Save" }).click();
    await settings.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("map server");
    await form.getByLabel("Owner").fill("northwind");
    await form.getByLabel("Prefix").fill("maps");
    await form.getByLabel("Uses left").fill("3");
    await form.getByLabel("Rate limits").fill("default 100/1m");
    await form.getByRole("button", { name: "Create key" }).click();
    await form.getByText("above the ceiling of the API").waitFor();
    // The browser's own message about that response.
    expect(watched.complaints.splice(0)).toEqual([expect.stringContaining("412")]);
    await form.getByLabel("Rate limits").fill("default 40/1m:sliding");
    await form.getByRole("button", { name: "Create key" }).click();
    const secret = (await page.locator("output").textContent()) ?? "";
    await page.getByRole("button", { name: "Copy secret" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByRole("heading", { name: "map server" }).waitFor();
    expect(await traces(watched)).not.toContain(secret);

    expect(await latchkey.verifyKey({ key: secret })).toMatchObject({
      valid: true,
      remaining: 2,
    });
    await page.getByText("A verification would accept it now, unless").waitFor();
    await page.getByText("39 of 40 left per minute").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await form.getByLabel("Rate limits").fill("default 50/1m:sliding\nwrites 5/1h");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("49 of 50 left per minute").waitFor();
    await page.getByText("5 of 5 left per hour").waitFor();

    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await page.getByText("Refused: disabled").waitFor();
    await page.locator(".page-head .badge", { hasText: "disabled" }).waitFor();
    expect(await latchkey.verifyKey({ key: secret })).toMatchObject({ code: "DISABLED" });

    // Looks the key up by its secret alone.
    await page.getByRole("link", { name: "Check a key" }).click();
    const field = page.locator("input[name=key]:focus");
    await field.fill(`Bearer ${secret}`);
    expect(await field.getAttribute("type")).toBe("password");
    await page.keyboard.press("Enter");
    await page.getByText("Refused: disabled").waitFor();
    expect(await traces(watched)).not.toContain(secret);

    // Looks it up by the part that a log shows.
    await page.getByRole("link", { name: "Check a key" }).click();
    await field.fill(`${secret.slice(0, 9)}…`);
    expect(await field.getAttribute("type")).toBe("text");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Keys that begin with" }).waitFor();
    await page.getByRole("cell", { name: `${secret.slice(0, 8)}…` }).waitFor();
    await page.getByRole("link", { name: "map server" }).click();
    await page.getByText("Refused: disabled").waitFor();
    await page.getByText("accepted, and refused:").waitFor();
    await page.getByRole("link", { name: "northwind" }).click();
    await page.getByRole("button", { name: "Revoke all keys" }).click();
    await page.getByRole("button", { name: "Revoke 1 key" }).click();
    await page.getByText("1 key of northwind: revoked.").waitFor();
    await page.getByText("This owner has no keys").waitFor();
    // The button with the focus disappeared with the keys.
    await page.locator("h1:focus").waitFor();
    expect(await latchkey.verifyKey({ key: secret })).toMatchObject({ code: "NOT_FOUND" });
    await page.getByRole("link", { name: "Check a key" }).click();
    await page.getByLabel("Key, its first characters").fill(secret);
    await page.keyboard.press("Enter");
    await page.getByText("No such key").waitFor();
    await page.getByText("No key begins with these characters").waitFor();
    await page.getByRole("link", { name: "Owners" }).click();
    await page.getByRole("link", { name: "northwind" }).click();
    await page.getByRole("button", { name: "Delete owner" }).click();
    await page.getByRole("button", { name: "erase it instead" }).click();
    await page.getByLabel("Type northwind to confirm").fill("northwind");
    await page.getByRole("button", { name: "Erase owner" }).click();
    await page.getByText("No owner").waitFor();
    expect(JSON.stringify(await latchkey.listAuditEvents({}))).not.toContain("northwind");
    const left = await traces(watched);
    expect(left).not.toContain(secret);
    expect(left).not.toContain(rootKey);
    expectQuiet(watched);
  });

  test("with the keyboard only: sign in, open a key, disable it, and Escape returns the focus", async () => {
    const { latchkey, origin, url } = await mount();
    const { good } = await seed(latchkey);
    const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
    const watched = await open(origin);
    const { page } = watched;
    await page.goto(url);
    await page.getByLabel("Root key").waitFor();
    const focused = () =>
      page.evaluate("document.activeElement.textContent || document.activeElement.name");
    const tabTo = async (text: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        if (String(await focused()).trim() === text) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab never came to ${text}`);
    };
    expect(await focused()).toBe("rootKey");
    await page.keyboard.type(rootKey);
    await page.keyboard.press("Enter");
    await page.locator("input[name=key]:focus").waitFor();
    await tabTo("APIs");
    await page.keyboard.press("Enter");
    for (const [heading, link] of [
      ["APIs", "maps"],
      ["maps", "map server"],
    ] as const) {
      await page.locator("h1:focus", { hasText: heading }).waitFor();
      await page.getByRole("link", { name: link }).waitFor();
      await tabTo(link);
      await page.keyboard.press("Enter");
    }
    await page.locator("h1:focus", { hasText: "map server" }).waitFor();
    await tabTo("Disable");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("Disable");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Tab");
    await tabTo("Disable");
    await page.keyboard.press("Enter");
    await page.getByText("Refused: disabled").waitFor();
    expect(await latchkey.verifyKey({ key: good.key })).toMatchObject({ code: "DISABLED" });
    expectQuiet(watched);
  });

  test("works behind a proxy with another path and another Host, and the back button restores the page", async () => {
    const { latchkey, url } = await mount({
      authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"], actor: "alice" }),
    });
    const { apiId, good } = await seed(latchkey);
    const edge = await proxyTo(url);
    const watched = await open(new URL(edge).origin);
    const { page, requests } = watched;
    await page.goto(edge);
    await page.getByRole("link", { name: "APIs", exact: true }).click();
    await page.getByRole("link", { name: "maps" }).click();
    await page.getByLabel("Owner").fill("northwind");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("2 shown").waitFor();
    expect(page.url()).toBe(`${edge}/#/apis/${apiId}?externalId=northwind`);
    await page.getByRole("link", { name: "map server" }).click();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByText("13 valid, 0 refused").waitFor();
    expect(page.url()).toBe(`${edge}/#/keys/${good.keyId}?tab=usage`);
    await page.goBack();
    await page.getByText("Remaining now").waitFor();
    await page.goBack();
    await page.getByText("2 shown").waitFor();
    expect(await page.getByLabel("Owner").inputValue()).toBe("northwind");
    await page.goBack();
    await page.getByText("3 shown").waitFor();
    expect(requests.every((path) => path.startsWith("/edge"))).toBe(true);
    expectQuiet(watched);
  });

  test("shows a root key what it may do, and nothing else", async () => {
    const { latchkey, origin, url } = await mount({ rootKeys: true });
    const { apiId, off } = await seed(latchkey);
    const permissions = [`api.${apiId}.read_api`, `api.${apiId}.read_key`];
    const { key: rootKey } = await latchkey.createRootKey({ permissions });
    const watched = await open(origin);
    const { page } = watched;
    await signIn(watched, url, rootKey);
    const links = await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link")
      .allInnerTexts();
    expect(links).toEqual(["Check a key", "APIs", "Store"]);
    await page.getByRole("link", { name: "APIs", exact: true }).click();
    await page.getByRole("link", { name: "maps" }).click();
    await page.getByRole("link", { name: "old build server" }).waitFor();
    expect(await page.getByRole("button", { name: "Create key" }).count()).toBe(0);
    await page.goto(`${url}#/keys/${off.keyId}`);
    await page.getByText("Refused: disabled").waitFor();
    for (const name of ["Edit", "Delete", "Rotate", "Enable"])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    await page.goto(`${url}#/audit`);
    await page.getByText("Page not found").waitFor();
    expectQuiet(watched);
  });

  test("all keys of an owner are disabled, even one without uses until its refill", async () => {
    const { latchkey, origin, url } = await mount();
    const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const refill = { interval: "daily", amount: 9 } as const;
    const owned = { apiId, externalId: "northwind", name: "map server" };
    const { keyId, key } = await latchkey.createKey({ ...owned, remaining: 1, refill });
    await latchkey.verifyKey({ key });
    const watched = await open(origin);
    const { page } = watched;
    await signIn(watched, url, rootKey);
    await page.getByLabel("Your own id for the owner").fill("northwin");
    await page.getByRole("button", { name: "Find owner" }).click();
    await page.getByText("1 shown").waitFor();
    expect(new URL(page.url()).hash).toBe("#/identities?externalIdContains=northwin");
    await page.getByLabel("Owner contains").fill("southwind");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No matching owners").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "northwind" }).waitFor();
    await page.goto(`${url}#/`);
    await page.getByLabel("Your own id for the owner").fill("northwind");
    await page.getByRole("button", { name: "Find owner" }).click();
    await page.getByRole("button", { name: "Disable all keys" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable all keys" }).click();
    await page.getByText("1 key of northwind: disabled.").waitFor();
    expect(await latchkey.explainKey({ keyId })).toMatchObject({ code: "DISABLED" });
    await page.getByRole("button", { name: "Enable all keys" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Enable all keys" }).click();
    await page.getByText("1 key of northwind: enabled.").waitFor();
    expect(await latchkey.explainKey({ keyId })).toMatchObject({ code: "USAGE_EXCEEDED" });
    await page.goto(`${url}#/keys/${keyId}`);
    await page.getByRole("link", { name: "maps" }).waitFor();
  });

  test("the page asks about refusals of some requests by itself, and says when a deleted key was deleted and by whom", async () => {
    const { latchkey, origin, url, setDown } = await mount({
      authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"], actor: "alice" }),
    });
    const { good, off } = await seed(latchkey);
    await latchkey.verifyKey({ key: good.key, authorization: { permissions: "tiles.write" } });
    const { page } = await open(origin, { viewport: { width: 390, height: 700 } });
    await page.goto(`${url}#/keys/${good.keyId}`);
    await page.getByText("1 missing permissions").waitFor();
    await page.getByText("A request may require one that the key does not have").waitFor();
    await page.getByLabel("Permissions").fill("tiles.write");
    await page.keyboard.press("Enter");
    await page.getByText("Missing: tiles.write").waitFor();
    await expect
      .poll(async () => (await page.locator(".verdict-title").boundingBox())?.y ?? -1)
      .toBeGreaterThanOrEqual(0);
    await page.getByRole("button", { name: "Give it permissions" }).click();
    await page.getByRole("dialog", { name: "Edit" }).waitFor();
    await page.keyboard.press("Escape");

    await page.goto(`${url}#/keys/${off.keyId}`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete key" }).click();
    await page.getByRole("link", { name: "trial" }).waitFor();
    await page.goto(`${url}#/keys/${off.keyId}`);
    await page.getByRole("heading", { name: "old build server" }).waitFor();
    await page.locator(".facts a", { hasText: "alice" }).waitFor();
    await page.goto(`${url}#/audit`);
    await page.getByLabel("Owner").fill("nobody");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No owner has this id").waitFor();
    await page.getByLabel("Owner").fill("northwind");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("4 shown").waitFor();

    setDown(true);
    await page.route("**/v1/readiness", (route) => route.abort());
    await page.getByRole("link", { name: "APIs" }).click();
    await page.getByText("What is shown here may be out of date").waitFor();
    await page.unroute("**/v1/readiness");
    setDown(false);
    await page.getByText("What is shown here may be out of date").waitFor({ state: "hidden" });
  });

  test("if an owner is deleted, its keys are disabled unless something else is chosen", async () => {
    const { latchkey, origin, url } = await mount({
      authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
    });
    const { identityId, good } = await seed(latchkey);
    const { page } = await open(origin);
    await page.goto(`${url}#/identities/${identityId}`);
    await page.getByRole("link", { name: "map server" }).waitFor();
    await page.getByRole("button", { name: "Delete owner" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete owner" }).click();
    await page.getByRole("heading", { name: "Owners" }).waitFor();
    expect(await latchkey.verifyKey({ key: good.key })).toMatchObject({ code: "DISABLED" });
  });

  test("a filter without matches stops after five pages, reports how many keys it searched, and continues by keyboard", async () => {
    const { latchkey, origin, url } = await mount({
      authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
    });
    const { off } = await seed(latchkey);
    const found = await latchkey.getKey({ keyId: off.keyId });
    const { page } = await open(origin);
    let asked = 0;
    await page.route("**/v1/keys.listKeys?*", (route) => {
      asked += 1;
      const keys = asked === 8 ? [found] : [];
      return route.fulfill({ json: { keys, scanned: 2_000, cursor: String(asked) } });
    });
    await page.goto(`${url}#/keys?nameContains=old`);
    const status = page.locator("[aria-live]", { hasText: "so far" });
    await expect.poll(() => status.textContent()).toBe("Searched 10,000 keys so far: none found");
    expect(asked).toBe(5);
    expect(page.url()).toBe(`${url}#/keys?nameContains=old`);
    await page.getByRole("button", { name: "Keep searching" }).press("Enter");
    await page.getByRole("link", { name: "old build server" }).waitFor();
    await page.locator("section:focus").waitFor();
    await expect.poll(() => status.textContent()).toBe("Searched 26,000 keys so far: 1 found");
    expect(asked).toBe(13);
  });
});
