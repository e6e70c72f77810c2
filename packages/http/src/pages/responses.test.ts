import { expect, onTestFinished, test, vi } from "vitest";
import { refuseMethod } from "./responses.js";

test("a method that is not allowed names the others where the host replaced Response by a class that forgets later headers", async () => {
  // As Hono's adapter for Node 1.x does, once the body is read.
  const Forgetful = new Proxy(Response, {
    construct(target, given) {
      const response = Reflect.construct(target, given) as Response;
      const first = new Headers(response.headers);
      return Object.defineProperty(response, "headers", { get: () => new Headers(first) });
    },
  });
  vi.stubGlobal("Response", Forgetful);
  onTestFinished(() => void vi.unstubAllGlobals());
  const refusal = refuseMethod("GET, HEAD");
  expect([refusal.status, refusal.headers.get("allow"), await refusal.json()]).toEqual([
    405,
    "GET, HEAD",
    { error: { code: "METHOD_NOT_ALLOWED", message: "this path takes GET, HEAD only" } },
  ]);
});
