import { once } from "node:events";
import { createServer as createHttpServer, IncomingMessage, ServerResponse } from "node:http";
import { connect, createServer } from "node:http2";
import { type AddressInfo, connect as connectSocket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { toNode } from "./node-bridge.js";

test.each(["TRACE", "TRACK", "get", "Head"])(
  "%s, of which no request can be made, is a method that is not allowed",
  async (method) => {
    const listen = toNode(async () => new Response());
    const server = createServer(
      (incoming, outgoing) => void listen(incoming as never, outgoing as never),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      client.destroy();
      server.close();
    });
    const stream = client.request({ ":method": method, ":path": "/" }, { endStream: true });
    const [{ ":status": status, allow }] = await once(stream.resume(), "response");
    expect([status, allow]).toEqual([405, "GET, HEAD, POST, DELETE"]);
  },
);

/** The response to a raw request of a listener that returns the path. */
async function sendText(text: string): Promise<string> {
  const server = createHttpServer(
    toNode(async ({ method, url }) => {
      const { pathname } = new URL(url);
      return new Response(method === "HEAD" ? null : pathname, { headers: { "x-path": pathname } });
    }),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const socket = connectSocket((server.address() as AddressInfo).port, "127.0.0.1");
  socket.end(text);
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  return answer;
}

test("a response to HEAD has no Content-Length", async () => {
  const answer = await sendText("HEAD /keys/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).not.toMatch(/content-length/i);
});

test.each(["", "keys.example", "keys.example:80", "[::1]:3000"])(
  "the path is that of the request line with the host %j",
  async (host) => {
    const line = "GET /keys/ HTTP/1.1";
    const answer = await sendText(`${line}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toContain("x-path: /keys/\r\n");
  },
);

test.each(["a/keys/?", "a/keys#", "a\\keys?", "user@a", "a b"])(
  "an invalid host %j is a 400, and does not change the path",
  async (host) => {
    const line = "GET /other HTTP/1.1";
    const answer = await sendText(`${line}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  },
);

test("a body that is refused in its middle does not hold up the next request of its connection", async () => {
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  const head = "POST /keys/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const next = "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const answers = await sendText(`${head}${chunk.repeat(20)}0\r\n\r\n${next}`);
  expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
  expect(answers).toContain("x-path: /next");
});

test("a request of a serverless platform is read by its headers by name", async () => {
  const seen: (string | null)[] = [];
  const listen = toNode(async ({ headers }) => {
    seen.push(headers.get("cookie"), headers.get("host"));
    return new Response();
  });
  const request = new IncomingMessage({ readable: false } as never);
  Object.assign(request, { method: "GET", url: "/", headers: { cookie: "a=b", host: "tiles" } });
  await listen(request, new ServerResponse(request));
  expect(seen).toEqual(["a=b", "tiles"]);
});
