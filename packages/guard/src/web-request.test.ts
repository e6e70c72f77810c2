import { expect, onTestFinished, test, vi } from "vitest";
import type { Refused } from "./refusal.js";
import { presentedByHeaders, refusedResponse, withHeaders } from "./web-request.js";

const FIELDS = { RateLimit: '"a";r=1;t=2' };

test("headers are presented unchanged, joined ones as one", () => {
  const headers = new Headers([
    ["Authorization", "Bearer a"],
    ["X-API-Key", "b"],
    ["X-API-Key", "c"],
  ]);
  expect(presentedByHeaders(headers, null)).toEqual({
    authorization: ["Bearer a"],
    apiKey: ["b, c"],
    forwardedFor: [],
    remoteAddress: null,
  });
});

test("fields are added to a response, except those that it already has", () => {
  const response = new Response("x", { headers: { ratelimit: "its own" } });
  expect(withHeaders(response, FIELDS)).toBe(response);
  expect(response.headers.get("RateLimit")).toBe("its own");
  const plain = new Response("x");
  expect(withHeaders(plain, FIELDS)).toBe(plain);
  expect(plain.headers.get("RateLimit")).toBe(FIELDS.RateLimit);
});

test("a response with immutable headers is copied, with its status and body", async () => {
  const redirect = withHeaders(Response.redirect("https://example.com/", 303), FIELDS);
  expect([redirect.status, redirect.headers.get("location")]).toEqual([
    303,
    "https://example.com/",
  ]);
  expect(redirect.headers.get("RateLimit")).toBe(FIELDS.RateLimit);
  const fetched = withHeaders(await fetch("data:text/plain,tiles"), FIELDS);
  expect([await fetched.text(), fetched.headers.get("RateLimit")]).toEqual([
    "tiles",
    FIELDS.RateLimit,
  ]);
});

test("a response is also copied where the host replaced Response by a class that shares headers, as Hono's adapter for Node 1.x does", async () => {
  const Shared = new Proxy(Response, {
    construct(target, [body, init]) {
      const response = new target(body, init);
      const shared = init?.headers instanceof Headers ? init.headers : response.headers;
      return Object.defineProperty(response, "headers", { value: shared });
    },
  });
  vi.stubGlobal("Response", Shared);
  onTestFinished(() => void vi.unstubAllGlobals());
  const fetched = withHeaders(await fetch("data:text/plain,tiles"), FIELDS);
  expect([await fetched.text(), fetched.headers.get("RateLimit")]).toEqual([
    "tiles",
    FIELDS.RateLimit,
  ]);
});

test("a refusal with a status that allows no body is sent without one", async () => {
  const refusal = { status: 204, headers: {}, body: "" } as unknown as Refused;
  const response = refusedResponse(refusal);
  expect([response.status, await response.text()]).toEqual([204, ""]);
});
