import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { mount, openSignedIn } from "./testing/fixture.js";

describeInBrowser("the page of a portal", (open) => {
  test.each([
    ["he-IL", "rtl"],
    ["de-AT", "ltr"],
  ])("is written in the direction of its language: %s", async (language, direction) => {
    const { latchkey, apiId, origin, url } = await mount({}, { language });
    await latchkey.createKey({ apiId, externalId: "alice", name: "build server" });
    const watched = await openSignedIn(open, origin, { viewport: { width: 360, height: 640 } });
    const { page } = watched;
    await page.goto(url);
    await page.getByText("build server").waitFor();
    const name = await page.getByText("build server").boundingBox();
    const found = await page.evaluate(
      '[getComputedStyle(document.querySelector("latchkey-keys")).direction, document.documentElement.scrollWidth]',
    );
    expect(found).toEqual([direction, 360]);
    expect((name?.x ?? 0) > 120).toBe(direction === "rtl");
    expect(watched.complaints).toEqual([]);
  });
});
