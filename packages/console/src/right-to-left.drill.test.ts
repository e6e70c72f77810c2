import { describeInBrowser } from "@latchkey/http/testing";
import { expect, test } from "vitest";
import { mount } from "./testing/mounted.js";

const OPERATOR = { workspaceId: "ws_default", permissions: ["*"], actor: "alice" };

/** The words of the change in the list, from left to right, as they are painted. */
const PAINTED = `
  const words = [];
  const change = [...document.querySelectorAll("main .cut")].find(({ textContent }) => textContent.includes("→"));
  const texts = document.createTreeWalker(change, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\p{N}\\\\]+|→/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      words.push([range.getBoundingClientRect().left, word]);
    }
  words.sort(([one], [other]) => one - other).map(([, word]) => word).join(" ")`;

describeInBrowser("the audit log", (open) => {
  test.each([
    ["right-to-left names", "אבג", "דהו", "name אבג → דהו"],
    ["a name that turns the text around", "\u202Eabc", "def", "name \\u202eabc → def"],
    [
      "one that leaves its isolation before",
      "\u2069\u202Eabc",
      "def",
      "name \\u2069\\u202eabc → def",
    ],
  ])("shows the earlier value first: %s", async (_, before, after, painted) => {
    const { latchkey, origin, url } = await mount({ authenticate: () => OPERATOR });
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { keyId } = await latchkey.createKey({ apiId, name: before });
    await latchkey.updateKey({ keyId, name: after });
    const { page } = await open(origin, { viewport: { width: 1_440, height: 900 } });
    await page.goto(`${url}#/audit`);
    await page.getByText("→").waitFor();
    expect(await page.evaluate(PAINTED)).toBe(painted);
  });
});

describeInBrowser("the title of a dialog", (open) => {
  test("shows characters that turn text around as escapes", async () => {
    const { latchkey, origin, url } = await mount({ authenticate: () => OPERATOR });
    const { apiId } = await latchkey.createApi({ name: "\u202Emaps" });
    const { page } = await open(origin, { viewport: { width: 1_440, height: 900 } });
    await page.goto(`${url}#/apis/${apiId}`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog", { name: "\\u202emaps" }).waitFor();
  });
});
