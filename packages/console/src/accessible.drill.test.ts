import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { describeInBrowser } from "./testing/browser.js";
import { mount } from "./testing/mounted.js";
import { seed } from "./testing/seeded.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const OPERATOR = { workspaceId: "ws_default", permissions: ["*"], actor: "alice" };

const LOOKS = [
  ["light", 1_440],
  ["dark", 1_440],
  ["light", 390],
  ["dark", 390],
] as const;

describeInBrowser("every page of the console", (open) => {
  test.each(LOOKS)(
    "in %s at %i pixels: axe finds nothing, nothing is wider than the page, the console says nothing",
    async (colorScheme, width) => {
      const { latchkey, origin, url } = await mount({
        authenticate: () => OPERATOR,
        rootKeys: true,
        async *examine() {
          yield { check: "store", state: "fine", found: "it answers" };
        },
      });
      const { apiId, good, off, identityId } = await seed(latchkey);
      // Axe is put in from outside, which the policy of the page forbids; another test holds the page to its policy.
      const { page, complaints } = await open(origin, {
        bypassCSP: true,
        colorScheme,
        viewport: { width, height: 900 },
      });
      await page.goto(url);
      await page.evaluate(axe);
      const look = async (what: string) => {
        const { violations } = (await page.evaluate("axe.run()")) as {
          violations: { id: string; nodes: { html: string }[] }[];
        };
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
        expect(found, what).toEqual([]);
        const overhang = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overhang, what).toBeLessThanOrEqual(0);
      };
      const pages: readonly (readonly [fragment: string, sign: string])[] = [
        ["/", "Whose is it?"],
        ["/apis", "documents"],
        [`/apis/${apiId}`, "old build server"],
        [`/apis/${apiId}?externalId=nobody`, "No key matches"],
        [`/keys/${good.keyId}?permissions=tiles.write`, "Refused: lacks permissions"],
        [`/keys/${off.keyId}`, "Refused: switched off"],
        [`/keys/${good.keyId}?tab=usage`, "As a table"],
        [`/keys/${good.keyId}?tab=reservations`, "Release"],
        [`/keys/${good.keyId}?tab=audit`, "key.created"],
        ["/identities", "northwind"],
        [`/identities/${identityId}`, "map server"],
        [`/identities/${identityId}?tab=limits`, "1,000 of 1,000 left"],
        ["/roles", "reader"],
        ["/roles?tab=permissions", "May do tiles.read"],
        ["/audit", "root_key.created"],
        ["/audit?follow=1", "Following"],
        ["/root-keys", "billing"],
        ["/store", "answers"],
        ["/nowhere", "There is no such page"],
      ];
      for (const [fragment, sign] of pages) {
        await page.evaluate(`location.hash = ${JSON.stringify(`#${fragment}`)}`);
        await page.locator("main").getByText(sign).first().waitFor();
        await look(fragment);
      }
      const dialogs = [
        [`/apis/${apiId}`, "Create key"],
        [`/keys/${good.keyId}`, "Edit"],
        [`/keys/${good.keyId}`, "Rotate"],
        [`/identities/${identityId}`, "Revoke all keys"],
      ] as const;
      for (const [fragment, button] of dialogs) {
        await page.evaluate(`location.hash = ${JSON.stringify(`#${fragment}`)}`);
        await page.getByRole("button", { name: button, exact: true }).click();
        await page.getByRole("dialog").waitFor();
        await look(button);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
      expect(complaints).toEqual([]);
    },
  );

  test("instants are in the reader's zone, and on hover what they are in UTC", async () => {
    const { latchkey, origin, url } = await mount({ authenticate: () => OPERATOR });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const expires = Date.UTC(2031, 5, 15, 22, 30, 0, 123);
    const { keyId } = await latchkey.createKey({ apiId, expires });
    const { page } = await open(origin, { timezoneId: "Asia/Tokyo", locale: "en-GB" });
    await page.goto(`${url}#/keys/${keyId}`);
    const shown = page.locator(`time[datetime="2031-06-15T22:30:00.123Z"]`);
    expect(await shown.innerText()).toBe("16 Jun 2031, 07:30");
    expect(await shown.getAttribute("title")).toBe("2031-06-15T22:30:00.123Z");
  });

  test("10,000 keys are scrolled from end to end with few rows in the page, and no pause over 100 ms", async () => {
    const { latchkey, origin, url } = await mount({ authenticate: () => OPERATOR });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    for (let at = 0; at < 100; at += 1)
      await latchkey.createKeys(
        Array.from({ length: 100 }, (_, each) => ({
          apiId,
          name: `key ${at * 100 + each}`,
          plaintext: `secret_of_a_key_that_was_imported_${at * 100 + each}`,
        })),
      );
    const { page } = await open(origin, { viewport: { width: 1_440, height: 900 } });
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByText("100 of 10000 shown").waitFor();
    // To the end once, so that all is read; then through all of it, a screen with each frame.
    await page.evaluate(`new Promise((done) => {
      const box = document.querySelector(".table-box");
      const step = () => {
        box.scrollTop = box.scrollHeight;
        if (document.querySelector(".list-end").textContent.startsWith("10000 shown")) done();
        else setTimeout(step, 5);
      };
      step();
    })`);
    const scroll = async () =>
      (await page.evaluate(`new Promise((done) => {
        const box = document.querySelector(".table-box");
        const pauses = [];
        let most = 0;
        new PerformanceObserver((list) => pauses.push(...list.getEntries().map((entry) => entry.duration)))
          .observe({ type: "longtask" });
        box.scrollTop = 0;
        const step = () => {
          most = Math.max(most, document.querySelectorAll("tbody tr").length);
          if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) return setTimeout(() => done({ most, pauses }), 50);
          box.scrollTop += 4_000;
          requestAnimationFrame(step);
        };
        step();
      })`)) as { most: number; pauses: number[] };
    // Beside other programs a machine pauses by itself: the best of three is that of the page.
    const runs = [await scroll(), await scroll(), await scroll()];
    expect(Math.max(...runs.map(({ most }) => most))).toBeLessThan(80);
    expect(Math.min(...runs.map(({ pauses }) => Math.max(0, ...pauses)))).toBeLessThan(100);
    await page.getByRole("link", { name: "key 9999", exact: true }).click();
    await page.getByRole("heading", { name: "key 9999" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "key 9999", exact: true }).waitFor();
    expect(page.url()).toContain("from=");
  });
});
