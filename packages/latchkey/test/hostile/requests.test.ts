import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createLatchkey } from "@latchkey/core";
import { createHandler, toNodeListener } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { fuzz } from "./fuzz.js";
import { hostileJson, hostileText } from "./values.js";

const latchkey = createLatchkey({ store: memoryStore(), usage: false });
const { key: root } = await latchkey.createRootKey({ permissions: ["*"] });
const errors: unknown[] = [];
const handler = createHandler({ latchkey, onError: (error) => errors.push(error) });
const server = createServer(toNodeListener(handler));
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const OPERATIONS =
  "keys.createKey,keys.verifyKey,keys.getKey,keys.updateKey,keys.deleteKey,apis.createApi,apis.getApi,apis.listKeys,identities.createIdentity,identities.listIdentities,ratelimits.limit,permissions.createRole,migrations.createKeys,audit.listEvents,liveness,openapi.json".split(
    ",",
  );
const path = fc
  .tuple(
    fc.constantFrom("/v1/", "/v2/", "/", "//", "/v1//"),
    fc.oneof(fc.constantFrom(...OPERATIONS), hostileText),
    fc.oneof(fc.constant(""), hostileText),
  )
  .map(
    ([version, operation, rest]) =>
      `${version}${encodeURI(operation.toWellFormed())}${rest === "" ? "" : `?${encodeURI(rest.toWellFormed())}=${encodeURIComponent(rest.toWellFormed())}`}`,
  );
const HEADERS =
  "authorization,content-type,content-encoding,idempotency-key,x-request-id,accept,if-none-match,x-forwarded-for".split(
    ",",
  );

fuzz(
  "any request is answered with a status of the document, in time and without an error of the server's own",
  {
    corpus: "requests",
    runs: 1_000,
    input: fc.record({
      path,
      method: fc.constantFrom("GET", "POST", "POST", "POST", "HEAD", "PUT", "OPTIONS"),
      headers: fc.array(fc.tuple(fc.constantFrom(...HEADERS), hostileText), { maxLength: 2 }),
      isKnown: fc.boolean(),
      body: fc.oneof(
        hostileJson.map((json) => JSON.stringify(json)),
        hostileText,
      ),
    }),
    feed: async ({ path, method, headers, isKnown, body }) => {
      const sent = new Headers({ "content-type": "application/json" });
      if (isKnown) sent.set("authorization", `Bearer ${root}`);
      for (const [name, value] of headers)
        sent.set(name, value.replace(/[^\x20-\xff]/g, "?").trim());
      const hasBody = method !== "GET" && method !== "HEAD";
      errors.length = 0;
      const response = await handler(
        new Request(`http://keys.test${path}`, { method, headers: sent, ...(hasBody && { body }) }),
      );
      const text = await response.text();
      expect(response.status, text).toBeGreaterThanOrEqual(200);
      expect(response.status, text).toBeLessThan(500);
      expect(errors).toEqual([]);
    },
  },
);

const LINES = [
  "GET /v1/liveness HTTP/1.1\r\n",
  "POST /v1/keys.verifyKey HTTP/1.1\r\n",
  "GET * HTTP/1.1\r\n",
  "GET http://[ HTTP/1.1\r\n",
  "host: a\r\n",
  "content-length: 5\r\n",
  "content-length: 99999999999\r\n",
  "transfer-encoding: chunked\r\n",
  "content-type: application/json\r\n",
  "expect: 100-continue\r\n",
  "upgrade: websocket\r\nconnection: upgrade\r\n",
  "\r\n",
  '{"key',
  "5\r\n{}   \r\n",
  "ffffffffff\r\n",
  "0\r\n\r\n",
  "\x16\x03\x01\x02",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

fuzz("whatever bytes a socket sends, the server goes on", {
  corpus: "socket-bytes",
  runs: 60,
  input: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...LINES) }, hostileText), {
    minLength: 1,
    maxLength: 8,
  }),
  feed: async (parts) => {
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () =>
        socket.end(Buffer.from(parts.join(""), "latin1")),
      );
      socket.on("error", () => resolve()).on("close", () => resolve());
      socket.resume();
      // The server waits for the rest of half a request, whose client disappears here.
      socket.setTimeout(50, () => socket.destroy());
    });
    const response = await fetch(`http://127.0.0.1:${port}/v1/liveness`);
    expect(response.status).toBe(200);
    await response.text();
  },
});
