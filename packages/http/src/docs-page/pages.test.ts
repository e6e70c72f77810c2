import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openApiDocument, toNodeListener } from "../index.js";
import { STATUS } from "../routing/http-response.js";
import { once } from "../routing/once.js";
import { BY_HEADER } from "../testing/by-header.js";
import { listen } from "../testing/listen.js";
import { openService } from "../testing/open-service.js";
import { REFERENCE_PAGES, SWAGGER_UI_VERSION } from "./reference-page.js";

const PATHS = ["openapi.json", "errors/NOT_FOUND", ...REFERENCE_PAGES.map(({ name }) => name)];

type Service = Awaited<ReturnType<typeof openService>>;

/** Shared, because no test changes it, and it creates each page at the first request: creating the document takes long. */
const service = await openService();

const get = (service: Service, path: string, method = "GET") =>
  service.handler(new Request(`http://keys.test${path}`, { method }));

describe("openapi.json", () => {
  test("is the document, for everyone", async () => {
    const response = await get(service, "/v1/openapi.json");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.json()).toEqual(openApiDocument());
  });

  test("names the base path as its server", async () => {
    const service = await openService({ basePath: "/internal/keys" });
    const response = await get(service, "/internal/keys/v1/openapi.json");
    expect(await response.json()).toEqual(openApiDocument({ baseUrl: "/internal/keys" }));
  });

  test("works while the store is unavailable", async () => {
    const service = await openService();
    await service.latchkey.close();
    expect((await get(service, "/v1/openapi.json")).status).toBe(200);
  });
});

describe("the reference page", () => {
  test("is HTML under a policy that allows only this origin and nothing inline", async () => {
    const response = await get(service, "/v1/docs");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")?.split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    const html = await response.text();
    expect(html).not.toMatch(/https?:|\{\{|style=|<style|<script(?! defer src=")/);
  });

  test("refers only to files next to it, by relative addresses", async () => {
    const html = await (await get(service, "/v1/docs")).text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)]
      .map(([, address = ""]) => address)
      .filter((address) => address !== "data:,");
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses)
      expect((await get(service, `/v1/${address}`)).status, address).toBe(200);
  });

  test("files with a version in their path are cached for ever, others are not", async () => {
    for (const { name } of REFERENCE_PAGES) {
      const cacheControl = (await get(service, `/v1/${name}`)).headers.get("cache-control");
      const isVersioned = name.includes(SWAGGER_UI_VERSION);
      expect(cacheControl, name).toBe(
        isVersioned ? "public, max-age=31536000, immutable" : "no-store",
      );
    }
  });

  test("the renderer is identical to that of its package, with its notices", () => {
    const require = createRequire(import.meta.url);
    const source = dirname(require.resolve("swagger-ui-dist/package.json"));
    expect(require("swagger-ui-dist/package.json").version).toBe(SWAGGER_UI_VERSION);
    const copies = new URL("../../page/swagger-ui/", import.meta.url);
    // Compared outside of `expect`, which would print megabytes for a difference.
    for (const name of [
      "swagger-ui-bundle.js",
      "swagger-ui-bundle.js.LICENSE.txt",
      "swagger-ui.css",
      "LICENSE",
      "NOTICE",
    ])
      expect(
        readFileSync(new URL(name, copies)).equals(readFileSync(join(source, name))),
        `${name}: run npm run setup`,
      ).toBe(true);
  });
});

describe("errors", () => {
  test("each code has a page with its status and its meaning", async () => {
    for (const [code, status] of Object.entries(STATUS)) {
      const response = await get(service, `/v1/errors/${code}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      expect(await response.text()).toMatch(
        new RegExp(`<h1>${code}</h1>\\n<p>HTTP status ${status}\\. .{10,}</p>`),
      );
    }
  });

  test("there is no other page", async () => {
    expect((await get(service, "/v1/errors/STORE_CORRUPT")).status).toBe(404);
  });
});

describe.each(PATHS)("%s", (path) => {
  test("is the same for everyone and over every listener, with the headers of every response", async () => {
    const byHost = await openService({
      ...BY_HEADER,
      authenticate: () => {
        throw new Error("nobody is asked for a public page");
      },
    });
    const [direct, bridged] = [
      await listen(toNodeListener(service.handler)),
      await listen(toNodeListener(byHost.handler)),
    ];
    const responses = [
      await get(service, `/v1/${path}`),
      await fetch(`${direct.origin}/v1/${path}`),
      await fetch(`${bridged.origin}/v1/${path}`),
    ];
    const [first, ...others] = await Promise.all(
      responses.map(async (response) => Buffer.from(await response.arrayBuffer())),
    );
    for (const other of others) expect(other.equals(first as Buffer)).toBe(true);
    for (const { status, headers } of responses) {
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe(responses[0]?.headers.get("content-type"));
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-request-id")).toMatch(/^req_/);
    }
  });

  test("accepts no query parameters, with the same message as an operation without input", async () => {
    const [page, liveness] = await Promise.all(
      [path, "liveness"].map(async (name) => {
        const response = await get(service, `/v1/${name}?x=1&y=%zz`);
        const { error } = (await response.json()) as { error: { message: string } };
        return [response.status, error.message];
      }),
    );
    expect(page).toEqual(liveness);
    expect(page?.[0]).toBe(400);
    expect((await get(service, `/v1/${path}?`)).status).toBe(200);
  });

  test("accepts only GET", async () => {
    for (const method of ["HEAD", "POST", "OPTIONS", "PUT", "DELETE"]) {
      const response = await get(service, `/v1/${path}`, method);
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
    }
  });

  test("does not exist with docs: false", async () => {
    const service = await openService({ docs: false });
    expect((await get(service, `/v1/${path}`)).status).toBe(404);
  });
});

test("content is created once, and again after a failure", async () => {
  let made = 0;
  const content = once(async () => {
    made += 1;
    if (made === 1) throw new Error("not yet");
    return { body: String(made), headers: {} };
  });
  await expect(content()).rejects.toThrow("not yet");
  expect((await content()).body).toBe("2");
  expect((await content()).body).toBe("2");
});
