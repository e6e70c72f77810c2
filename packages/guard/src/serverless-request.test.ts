import { type IncomingMessage, Server } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { presentedByNode } from "./node-request.js";
import { open } from "./testing/open.js";
import { type Answer, SERVERS } from "./testing/servers.js";

/** Entries that read web standard headers, which their bridge builds from the raw ones. */
const OVER_HEADERS = ["Hono 4", "Elysia", "Elysia on Node", "a fetch handler"];
const OVER_NODE = Object.entries(SERVERS).filter(([name]) => !OVER_HEADERS.includes(name));

/** A request as serverless-http builds it from an event: `headers` is filled, and the list of raw headers stays empty. */
function becomeServerless(request: IncomingMessage): void {
  const { headers } = request;
  Object.assign(request, { headers: { ...headers }, rawHeaders: [] });
}

describe("a request that was built from the event of a serverless platform", () => {
  beforeEach(() => {
    const { emit } = Server.prototype;
    // Not earlier: the server itself reads the raw headers before this event.
    const spy = vi.spyOn(Server.prototype, "emit").mockImplementation(function (
      this: Server,
      event: string | symbol,
      ...values: unknown[]
    ) {
      if (event === "request") becomeServerless(values[0] as IncomingMessage);
      return Reflect.apply(emit, this, [event, ...values]);
    });
    onTestFinished(() => spy.mockRestore());
  });

  test.each(OVER_NODE)("presents its key to a route of %s", async (_name, serve) => {
    const { latchkey, issue } = await open();
    const key = await issue();
    const port = await serve({ latchkey });
    const visit = (headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}/tiles`, { headers });
    for (const headers of [{ Authorization: `Bearer ${key}` }, { "X-API-Key": key }]) {
      const response = await visit(headers);
      expect(response.status).toBe(200);
      const { keyId } = (await response.json()) as Answer;
      expect(keyId).toBe((await latchkey.whoami({ key })).id);
    }
    expect((await visit({})).status).toBe(401);
    expect((await visit({ "X-API-Key": `${key}, ${key}` })).status).toBe(401);
  });
});

test("headers by name count in any case, once per value, and only without raw headers", () => {
  const socket = { remoteAddress: "192.0.2.7" };
  const headers = {
    Authorization: "Bearer k1",
    authorization: ["Bearer k2", "Bearer k3"],
    "x-api-key": "k4",
    "X-Forwarded-For": "192.0.2.8",
    "content-length": 7,
  };
  expect(presentedByNode({ rawHeaders: [], headers, socket })).toEqual({
    authorization: ["Bearer k1", "Bearer k2", "Bearer k3"],
    apiKey: ["k4"],
    forwardedFor: ["192.0.2.8"],
    remoteAddress: "192.0.2.7",
  });
  expect(presentedByNode({ rawHeaders: ["Host", "tiles"], headers, socket })).toEqual({
    authorization: [],
    apiKey: [],
    forwardedFor: [],
    remoteAddress: "192.0.2.7",
  });
});

test("a request without raw headers, as Fastify's own, is refused with a question about the entry", () => {
  const ofFastify = { raw: {}, headers: {}, socket: {} } as never;
  expect(() => presentedByNode(ofFastify)).toThrow("from the entry for your framework");
});
