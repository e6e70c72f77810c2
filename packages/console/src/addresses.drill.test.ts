import { createServer } from "node:http";
import { describeInBrowser } from "@latchkey/http/testing";
import express from "express";
import { expect, test } from "vitest";
import { createConsole } from "./express.js";
import { createConsole as createNodeConsole } from "./node.js";
import { listen, openLatchkey } from "./testing/fixture.js";
import { mount } from "./testing/mounted.js";

const OPERATOR = {
  authenticate: () => ({ workspaceId: "ws_default", permissions: ["*"] }),
};

describeInBrowser("an address", (open) => {
  test("with two slashes leads to no other site", async () => {
    const app = express();
    app.use(/.*\/console/, createConsole(openLatchkey(), OPERATOR));
    const options = { ...OPERATOR, basePath: "/console" };
    const origins = [
      await listen(app),
      await listen(createServer(createNodeConsole(openLatchkey(), options))),
    ];
    for (const origin of origins)
      for (const path of ["//elsewhere.test/console", "/\\elsewhere.test/console", "/console"]) {
        const { page, strayRequests } = await open(origin);
        await page.goto(`${origin}${path}#/apis`);
        // One of the two servers answers that there is no such path.
        await page.locator('main, :text("NOT_FOUND")').first().waitFor();
        expect(strayRequests, path).toEqual([]);
        expect(new URL(page.url()).origin).toBe(origin);
        if (path === "/console") expect(page.url()).toBe(`${origin}/console/#/apis`);
      }
  });

  test("is reached behind a server that removes the trailing slash, as Next.js does", async () => {
    const answer = createNodeConsole(openLatchkey(), { ...OPERATOR, basePath: "/ops/console" });
    const origin = await listen((request, response) => {
      const [path = "", ...query] = (request.url ?? "").split("?");
      if (path === "/" || !path.endsWith("/")) return void answer(request, response);
      const location = [path.slice(0, -1), ...query].join("?");
      return void response.writeHead(308, { location }).end();
    });
    const { page, complaints } = await open(origin);
    for (const path of ["/ops/console", "/ops/console/"]) {
      await page.goto(`${origin}${path}#/apis`);
      await page.getByText("No APIs yet").waitFor();
      expect(page.url()).toBe(`${origin}/ops/console/index.html#/apis`);
      await page.reload();
      await page.getByText("No APIs yet").waitFor();
      await page.goto("about:blank");
    }
    expect(complaints).toEqual([]);
  });

  test("with an invalid place in a list says so, and links to the beginning", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    await latchkey.createApi({ name: "maps" });
    const { page } = await open(origin);
    await page.goto(`${url}#/apis?from=half-a-cur`);
    await page.getByText("The address contains no valid position in this list.").waitFor();
    await page.getByRole("link", { name: "Show it from the beginning" }).click();
    await page.getByRole("link", { name: "maps" }).waitFor();
  });

  test.each(["century", "toString", "__proto__"])(
    "of a chart with the unknown span %s shows the default span",
    async (span) => {
      const { latchkey, origin, url } = await mount(OPERATOR);
      const { apiId } = await latchkey.createApi({ name: "maps" });
      const { page, complaints } = await open(origin);
      await page.goto(`${url}#/apis/${apiId}?tab=usage&span=${span}`);
      await page.getByRole("button", { name: "30 days", pressed: true }).waitFor();
      expect(complaints).toEqual([]);
    },
  );

  test("of a key that is deleted while its page is open says so, and no longer that it is valid", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const { keyId } = await latchkey.createKey({ apiId, name: "map server" });
    const { page } = await open(origin);
    await page.goto(`${url}#/keys/${keyId}`);
    await page.getByText("A verification would accept it now").waitFor();
    await latchkey.deleteKey({ keyId });
    await page.getByText("Every request with it has been refused since then.").waitFor();
    expect(await page.getByText("A verification would accept it now").count()).toBe(0);
  });

  test("that the back button restores also restores the form about a request, and its answer", async () => {
    const { latchkey, origin, url } = await mount(OPERATOR);
    const { apiId } = await latchkey.createApi({ name: "maps" });
    for (const name of ["tiles.read", "tiles.write"]) await latchkey.createPermission({ name });
    const { keyId } = await latchkey.createKey({ apiId, permissions: ["tiles.read"] });
    const { page } = await open(origin);
    await page.goto(`${url}#/keys/${keyId}`);
    await page.getByText("Test a request").click();
    const field = page.getByLabel("Permissions");
    const answer = page.locator(".verdict-title");
    for (const [name, verdict] of [
      ["tiles.write", "Refused"],
      ["tiles.read", "Valid"],
    ] as const) {
      await field.fill(name);
      await page.getByRole("button", { name: "Test" }).click();
      await answer.filter({ hasText: verdict }).waitFor();
    }
    await page.goBack();
    await answer.filter({ hasText: "Refused" }).waitFor();
    expect(await field.inputValue()).toBe("tiles.write");
    await page.goBack();
    await answer.filter({ hasText: "Valid" }).waitFor();
    expect(await field.inputValue()).toBe("");
  });

  test("with an impossible instant does not break the page", async () => {
    const { origin, url } = await mount(OPERATOR);
    const { page, complaints } = await open(origin);
    await page.goto(`${url}#/keys?createdAfter=-9e15`);
    await page.getByLabel("Created since").waitFor({ state: "attached" });
    expect(complaints.filter((one) => !one.includes("400"))).toEqual([]);
  });
});
