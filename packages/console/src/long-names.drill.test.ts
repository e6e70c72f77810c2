import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { mount } from "./testing/mounted.js";

const OPERATOR = { workspaceId: "ws_default", permissions: ["*"], actor: "alice" };

/** A word that no browser breaks by itself. */
const WORD = "Donaudampfschifffahrtsgesellschaft".repeat(7).slice(0, 230);

describeInBrowser("names that are one long word", (open) => {
  test.each([1_440, 390])("at %i pixels, are shown whole, within the page", async (width) => {
    const { latchkey, origin, url } = await mount({ authenticate: () => OPERATOR });
    const { apiId } = await latchkey.createApi({ name: WORD });
    const { identityId } = await latchkey.createIdentity({ externalId: WORD });
    const { keyId } = await latchkey.createKey({ apiId, externalId: WORD, name: WORD });
    const permissions = Array.from({ length: 60 }, (_, at) => `tiles.number_${at}.read`);
    await latchkey.ensureRole({ name: WORD.slice(0, 120), permissions });
    const { page } = await open(origin, { viewport: { width, height: 900 } });
    await page.goto(url);
    for (const [fragment, name] of [
      [`/apis/${apiId}`, "h1"],
      [`/keys/${keyId}`, "h1"],
      [`/identities/${identityId}`, "h1"],
      ["/roles", ".name"],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${fragment}`)}`);
      await page.locator(`main ${name}`, { hasText: "Donau" }).waitFor();
      await page.getByText("Loading").waitFor({ state: "detached" });
      const beyond =
        await page.evaluate(`[...document.querySelectorAll("main header *, main .name")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth)
        .map((one) => one.outerHTML.slice(0, 80))`);
      expect(beyond, fragment).toEqual([]);
    }
    // A role with many permissions makes a high row: its name is at the top of it.
    const { y = 900 } = (await page.locator("main .name").first().boundingBox()) ?? {};
    expect(y).toBeLessThan(400);
  });
});
