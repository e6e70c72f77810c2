import express from "express";
import { expect, test } from "vitest";
import { toNodeListener } from "../index.js";
import { OPERATIONS } from "../operations/table.js";
import { describeInBrowser, type Watched } from "../testing/browser.js";
import { listen } from "../testing/listen.js";
import { openService } from "../testing/open-service.js";

/** Reduces the document at this address to two operations: showing all takes seconds, and only the first test waits for that. */
async function shorten(page: Watched["page"], address: string) {
  await page.route(address, async (route) => {
    const response = await route.fetch();
    const document = await response.json();
    const { "/v1/liveness": liveness, "/v1/readiness": readiness } = document.paths;
    const paths = { "/v1/liveness": liveness, "/v1/readiness": readiness };
    await route.fulfill({ response, json: { ...document, paths } });
  });
}

/** The element with the path of an operation. A search by text would scan the whole large page again and again, which takes seconds. */
const pathOf = (name: string) => `[data-path="/v1/${name}"]`;

describeInBrowser("the reference page in a browser", (open) => {
  test("shows every operation, calls only its own server, and reports no error", async () => {
    const service = await openService();
    const { origin } = await listen(toNodeListener(service.handler));
    const { page, strayRequests, requests, complaints } = await open(origin);
    await page.goto(`${origin}/v1/docs`);
    await page.locator(pathOf("keys.verifyKey")).waitFor();
    // Swagger UI inserts invisible spaces where a path may wrap.
    // biome-ignore lint/performance/useDomNodeTextContent: only visible text counts
    const text = (await page.locator("body").innerText()).replaceAll("\u200b", "");
    for (const { name, summary } of OPERATIONS) {
      expect(text).toContain(`/v1/${name}`);
      expect(text).toContain(summary);
    }
    // An opened operation shows its input: this is where a renderer would load more.
    for (const name of ["keys.verifyKey", "keys.createKey", "apis.listKeys"])
      await page.locator(pathOf(name)).click();
    const opened = page.locator(".opblock.is-open", {
      has: page.locator(pathOf("keys.createKey")),
    });
    await opened.getByText("Idempotency-Key").first().waitFor();
    await opened.getByText("Needs api.*.create_key").waitFor();
    expect(requests).toContain("/v1/openapi.json");
    expect(strayRequests).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("mounted on a path, calls only below that path, and an operation can be tried", async () => {
    const service = await openService();
    const app = express();
    app.use("/internal/keys", toNodeListener(service.handler));
    const { origin } = await listen(app);
    const { page, strayRequests, requests, complaints } = await open(origin);
    await shorten(page, `${origin}/internal/keys/v1/openapi.json`);
    await page.goto(`${origin}/internal/keys/v1/docs`);
    await page.getByText("/v1/readiness", { exact: true }).click();
    await page.getByRole("button", { name: "Try it out" }).click();
    const answered = page.waitForResponse(`${origin}/internal/keys/v1/readiness`);
    await page.getByRole("button", { name: "Execute" }).click();
    expect((await answered).status()).toBe(200);
    expect(requests.filter((path) => !path.startsWith("/internal/keys/v1/"))).toEqual([]);
    expect([strayRequests, complaints]).toEqual([[], []]);
  });

  test("the check itself notices a request to another origin, a forbidden script and a logged error", async () => {
    const service = await openService();
    const { origin } = await listen(toNodeListener(service.handler));
    const { page, strayRequests, complaints } = await open(origin);
    // The page has its policy even if it has nothing to show.
    await page.route("**/swagger-ui-bundle.js", (route) => route.fulfill({ body: "" }));
    await page.goto(`${origin}/v1/docs`);
    await page.evaluate(`{
      const script = document.createElement("script");
      script.textContent = "1";
      document.body.append(script);
      console.error("planted");
      const image = new Image();
      image.src = "https://elsewhere.test/a.png";
    }`);
    await expect.poll(() => complaints.some((text) => text.startsWith("img-src"))).toBe(true);
    expect(complaints).toContain("planted");
    expect(complaints.some((text) => text.startsWith("script-src"))).toBe(true);
    // Without a policy, only the test itself blocks the request.
    await page.goto(`${origin}/v1/docs/page.css`);
    await page
      .evaluate(`fetch("https://elsewhere.test/b", { mode: "no-cors" })`)
      .catch(() => undefined);
    expect(strayRequests).toEqual(["https://elsewhere.test/b"]);
  });
});
