import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { proxyTo, watchFocus, watchShifts } from "@latchkey/console/testing";
import { describeInBrowser, type Watched } from "@latchkey/http/testing";
import { memoryStore } from "@latchkey/memory";
import axe from "axe-core";
import { expect, test } from "vitest";
import { mount, openSignedIn, STORES, signIn } from "./testing/fixture.js";
import { GERMAN } from "./texts.js";

test("script and style together are at most 40 kB compressed", () => {
  const sizes = ["app.js", "app.css"].map((name) => {
    const content = readFileSync(new URL(`../dist/page/${name}`, import.meta.url));
    return gzipSync(content).byteLength;
  });
  expect(sizes[0]).toBeGreaterThan(1_000);
  expect(sizes[0]! + sizes[1]!).toBeLessThan(40_000);
});

const ROOT = 'document.querySelector("latchkey-keys").shadowRoot';

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

/** Every place where a secret could have been left behind. */
async function traces({ page, requests, complaints }: Watched): Promise<string> {
  const inPage = await page.evaluate(`(() => {
    const roots = [document, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])];
    return JSON.stringify([
      document.documentElement.outerHTML,
      roots.flatMap((root) => [root.innerHTML ?? "", ...[...root.querySelectorAll("input, textarea, select, option")].map((field) => field.value)]),
      { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
      performance.getEntriesByType("resource").map((entry) => entry.name),
    ]);
  })()`);
  return JSON.stringify([inPage, requests, complaints]);
}

/** Asserts that no request went to another origin, and that the browser's console is empty. */
function expectQuiet({ strayRequests, complaints }: Watched): void {
  expect(strayRequests).toEqual([]);
  expect(complaints).toEqual([]);
}

describeInBrowser("the portal in a browser", (open) => {
  test("on SQLite: create, copy, verify, rename, rotate, watch, revoke; no secret stays in the page, its address, storage or history", async () => {
    const { latchkey, origin, url } = await mount(
      { permissions: ["tiles.read"], maxKeys: 1 },
      {},
      STORES.SQLite(),
    );
    const watched = await openSignedIn(open, origin, CLIPBOARD);
    const { page } = watched;
    await page.goto(url.slice(0, -1));
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("build server");
    await dialog.getByLabel("Expires").selectOption("30");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const secret = (await page.locator("output").textContent()) ?? "";
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    // A browser can close a dialog on its own. One that shows a secret opens again.
    await page.evaluate(`${ROOT}.querySelector("dialog").close()`);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("status").getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByText("The key was created.").waitFor();
    await page.getByText("Active").waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: "Create key" }).click({ force: true });
    await page.getByText("You have reached the maximum number of keys: 1.").waitFor();
    expect(await traces(watched)).not.toContain(secret);
    expect(await latchkey.verifyKey({ key: secret })).toMatchObject({
      valid: true,
      permissions: ["tiles.read"],
      identity: { externalId: "alice" },
    });

    await page.getByRole("button", { name: "Rename: build server" }).click();
    await dialog.getByLabel("Name").fill("deploys");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Usage: deploys" }).click();
    await page.getByRole("img", { name: "Usage of “deploys” in the last 30 days" }).waitFor();
    const days = page.locator(".usage .axis span");
    const day = (at: number) =>
      new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" }).format(at);
    const today = latchkey.now();
    expect(await days.allTextContents()).toEqual([day(today - 29 * 86_400_000), day(today)]);
    // In a page that is written from right to left, they are still below their bars.
    await page.evaluate('document.documentElement.dir = "rtl"');
    const [first, last] = await Promise.all([
      days.first().boundingBox(),
      days.last().boundingBox(),
    ]);
    expect(first?.x).toBeLessThan(last?.x ?? 0);
    await page.evaluate('document.documentElement.dir = ""');
    await page.getByText("As a table").click();
    await page.getByRole("cell", { name: "1", exact: true }).waitFor();

    await page.getByRole("button", { name: "Rotate: deploys" }).click();
    await page.getByText("programs that still use the old secret are refused").waitFor();
    await dialog.getByLabel("The old secret stops working").selectOption("3600000");
    await dialog.getByRole("button", { name: "Rotate" }).click();
    const next = (await page.locator("output").textContent()) ?? "";
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByText(/^Replaced, valid until/).waitFor();
    for (const key of [secret, next])
      expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    await page.getByRole("button", { name: "Revoke: deploys" }).last().click();
    await page.getByText("This cannot be undone.").waitFor();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("The key was revoked.").waitFor();
    await page.locator('[aria-disabled="false"]', { hasText: "Create key" }).waitFor();
    // The button with the focus disappeared with the key.
    await page.locator("section:focus").waitFor();
    expect(await latchkey.verifyKey({ key: next })).toMatchObject({ code: "NOT_FOUND" });
    expect(await traces(watched)).not.toContain(next);
    expectQuiet(watched);
  });

  test("works on another path behind a proxy, in another language and with the host's colours", async () => {
    const { url } = await mount(
      {},
      { language: "de", texts: GERMAN, variables: { "--latchkey-accent": "rgb(1, 2, 3)" } },
    );
    const proxied = await proxyTo(url);
    const { origin } = new URL(proxied);
    const watched = await openSignedIn(open, origin);
    const { page } = watched;
    await page.goto(proxied);
    await page.getByText("Noch keine Schlüssel").waitFor();
    const colour = await page.evaluate(
      'getComputedStyle(document.querySelector("latchkey-keys").shadowRoot.querySelector("button.primary")).backgroundColor',
    );
    expect(colour).toBe("rgb(1, 2, 3)");
    expectQuiet(watched);
  });

  test("works as an element in a page of the host, under the host's own strict policy", async () => {
    const { latchkey, origin } = await mount();
    const watched = await openSignedIn(open, origin);
    const { page } = watched;
    await page.goto(`${origin}/host`);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("boat");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    const key = (await page.locator("output").textContent()) ?? "";
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    await page.getByRole("button", { name: "I have saved it" }).click();
    expect(await traces(watched)).not.toContain(key);
    // The missing icon of the host's page is not a fault of the portal.
    const own = watched.complaints.filter((one) => !one.includes("favicon"));
    expect(own).toEqual([]);
  });

  test("if the session is revoked while a form is open, the page says so and keeps the typed text", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create a key" });
    await form.getByLabel("Name").fill("typed before");
    await latchkey.revokePortalSession({ externalId: "alice" });
    await page.context().clearCookies({ name: "user" });
    await form.getByRole("button", { name: "Create key" }).click();
    const over = page.getByRole("dialog", { name: "Your session has ended" });
    await over.getByRole("button", { name: "Continue" }).click();
    await over.getByText("You are still signed out.").waitFor();
    await signIn(page, origin);
    await over.getByRole("button", { name: "Continue" }).click();
    await over.waitFor({ state: "detached" });
    expect(await form.getByLabel("Name").inputValue()).toBe("typed before");
    await form.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have saved it" }).click();
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys.map(({ name }) => name)).toEqual(["typed before"]);
  });

  test("if the store is down, the list and forms say so and keep the typed text", async () => {
    const { origin, url, setDown } = await mount();
    const { page } = await openSignedIn(open, origin);
    setDown(true);
    await page.goto(url);
    await page.getByText("The service is currently unavailable.").waitFor();
    setDown(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("typed before");
    setDown(true);
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("The service is currently unavailable.").waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("typed before");
    setDown(false);
    await dialog.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have saved it" }).waitFor();
  });

  test("a link with the secret of a session signs in, and the secret leaves the address at once", async () => {
    const { latchkey, apiId, origin, url } = await mount({}, { session: undefined } as never);
    const { secret } = await latchkey.createPortalSession({
      externalId: "alice",
      allow: { apiIds: [apiId] },
    });
    const watched = await open(origin);
    const { page } = watched;
    await page.goto(`${url}#session=${secret}`);
    await page.getByText("Keys created for you appear here.").waitFor();
    expect(await page.getByRole("button", { name: "Create key" }).count()).toBe(0);
    expect(await traces(watched)).not.toContain(secret);
    await page.reload();
    await page.getByText("Keys created for you appear here.").waitFor();
    expectQuiet(watched);
  });

  test("at 360 pixels, the longest figures are not wider than the page", async () => {
    const store = memoryStore();
    const { latchkey, apiId, origin, url } = await mount({}, {}, store);
    const remaining = Number.MAX_SAFE_INTEGER;
    const { keyId } = await latchkey.createKey({ apiId, externalId: "alice", remaining });
    const subject = { kind: "key", id: keyId } as const;
    const hourAt = latchkey.now() - (latchkey.now() % 3_600_000);
    const counts = (["VALID", "EXPIRED"] as const).map((code) => ({
      subject,
      hourAt,
      code,
      count: Math.floor(remaining / 2),
    }));
    await store.addStatistics(latchkey.workspaceId, { counts, uses: [] });
    const watched = await open(origin, { viewport: { width: 360, height: 800 } });
    const { page } = watched;
    await signIn(watched.page, origin);
    await page.goto(url);
    await page.getByRole("button", { name: /^Usage/ }).click();
    await page.getByText("As a table").click();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expectQuiet(watched);
  });

  test("at 360 pixels, a name of one long word is shown whole, on the page and in dialogs", async () => {
    const { latchkey, apiId, origin, url } = await mount({});
    const name = "Donaudampfschifffahrtsgesellschaft".repeat(7);
    await latchkey.createKey({ apiId, externalId: "alice", name });
    const watched = await open(origin, { viewport: { width: 360, height: 800 } });
    const { page } = watched;
    await signIn(page, origin);
    await page.goto(url);
    for (const act of ["Rotate", "Revoke"]) {
      await page.getByRole("button", { name: new RegExp(`^${act}:`) }).click();
      await page.getByRole("dialog").waitFor();
      const title = `${ROOT}.querySelector("dialog h2, dialog h3")`;
      expect(await page.evaluate(`${title}.scrollWidth - ${title}.clientWidth`)).toBe(0);
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    }
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expectQuiet(watched);
  });

  // One width for each theme: no rule of a theme depends on the width.
  test.each([
    [1_440, "light"],
    [390, "dark"],
  ] as const)(
    "at %i pixels, in %s: axe finds nothing, the layout does not shift, and nothing is wider than the page",
    async (width, colorScheme) => {
      const allow: { permissions: string[]; apiIds?: string[] } = { permissions: ["tiles.read"] };
      const { latchkey, apiId, origin, url } = await mount(allow);
      const other = await latchkey.createApi({ name: "charts" });
      allow.apiIds = [apiId, other.apiId];
      const owner = { apiId, externalId: "alice" };
      await latchkey.createKey({ ...owner, apiId: other.apiId, name: "sailing" });
      const { key } = await latchkey.createKey({ ...owner, name: "build server", remaining: 90 });
      await latchkey.createKey({ ...owner, name: "a-name-without-end".repeat(12) });
      await latchkey.createKey({ ...owner, enabled: false });
      await latchkey.createKey({ ...owner, name: "strong", permissions: ["tiles.write"] });
      await latchkey.verifyKey({ key });
      // Axe is injected, which the policy of the page forbids. Other tests check the page under its policy.
      const viewport = { width, height: 900 };
      const watched = await openSignedIn(open, origin, { bypassCSP: true, viewport, colorScheme });
      const { page } = watched;
      const shifts = await watchShifts(page, /\/(?:session|keys\.\w+)(?:\?|$)/);
      const expectStill = async (what: string) => {
        const { share, what: jumped } = await shifts();
        expect(share, `${what}: ${jumped}`).toBeLessThan(0.02);
      };
      await page.goto(url);
      await page.getByText("Disabled").waitFor();
      await page.getByText("sailing").waitFor();
      await expectStill("the lists");
      await page.evaluate(axe.source);
      const look = async (what: string) => {
        const { violations } = (await page.evaluate(
          'axe.run({ resultTypes: ["violations"] })',
        )) as { violations: { id: string; nodes: { html: string }[] }[] };
        expect(
          violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
          what,
        ).toEqual([]);
        const overhang = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overhang, what).toBeLessThanOrEqual(0);
      };
      const usage = page.getByRole("button", { name: "Usage: build server" });
      await usage.click();
      // Opening the section is not a shift, but growing with the answer would be one.
      await page.locator(".usage").waitFor();
      await page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done((shifts.length = 0)))))",
      );
      await page.getByText("As a table").waitFor();
      await expectStill("usage");
      await page.getByRole("button", { name: "Rename: sailing" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("boats");
      await page.keyboard.press("Enter");
      await page.getByText("boats").waitFor();
      await expectStill("another name");
      await page.getByText("As a table").click();
      await look("list");
      const focused = await watchFocus(page, ROOT);
      for (const name of [
        "Create key",
        "Rename: build server",
        "Rotate: build server",
        "Revoke: build server",
      ]) {
        await page.getByRole("button", { name, exact: true }).click();
        await page.getByRole("dialog").waitFor();
        await look(name);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
        expect(await focused(), "what has the focus when the dialog is gone").toBe(name);
      }
      await page.getByRole("button", { name: "Create key" }).click();
      await page.evaluate(`${ROOT}.querySelector("dialog").close()`);
      await page.locator("dialog").waitFor({ state: "detached" });
      expect(await focused(), "what has the focus after the browser closed a dialog").toBe(
        "Create key",
      );
      expectQuiet(watched);
    },
  );

  test("if the list is reloaded while a dialog is open, the focus returns to the button that opened the dialog", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    await latchkey.createKey({ apiId, externalId: "alice", name: "boat" });
    const { page } = await openSignedIn(open, origin);
    await page.goto(url);
    await page.getByRole("button", { name: "Rename: boat" }).click();
    const focused = await watchFocus(page, ROOT);
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/keys.list*", async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("dialog").getByLabel("Name").fill("ship");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Rotate: boat" }).click();
    expect(await focused()).toBe("Rename: boat");
    await page.getByRole("dialog").waitFor();
    answer();
    await page.locator('[aria-label="Rotate: ship"]').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("Rotate: ship");
  });

  test("a key can be created and revoked with the keyboard only", async () => {
    const { latchkey, apiId, origin, url } = await mount();
    const watched = await openSignedIn(open, origin);
    const { page } = watched;
    await page.goto(url);
    await page.getByText("No keys yet").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("typed");
    await page.keyboard.press("Enter");
    await page.locator("output").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("The key was created.").waitFor();
    const { keys } = await latchkey.listKeys({ apiId });
    expect(keys.map(({ name }) => name)).toEqual(["typed"]);
    expectQuiet(watched);
  });
});
