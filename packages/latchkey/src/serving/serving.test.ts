import { createServer, get } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type LogFormat, withAccessLog } from "./access-log.js";
import { drainOf, listen } from "./listening.js";
import { withRootPath } from "./root-path.js";

const SECRET = "pay_live_ZUUaq9NgA2QyuEqiaE7LS7SXY9juh";

/** A server with an access log, whose clock advances by half a second with each reading. */
async function start(format: LogFormat) {
  const lines: string[] = [];
  let now = Date.UTC(2031, 4, 17);
  let tell: () => void = () => undefined;
  const written = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const print = (line: string) => {
    lines.push(line);
    tell();
  };
  const listener = withRootPath((incoming, outgoing) => {
    if (incoming.url === "/gone") incoming.socket.destroy();
    else outgoing.writeHead(404, { "x-request-id": "req_1" }).end();
  });
  const server = createServer(
    withAccessLog(listener, format, print, () => {
      now += 500;
      return now;
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lines, written };
}

describe("the access log", () => {
  test("as JSON has one object per line, without the query, and shortens secrets", async () => {
    const { url, lines, written } = await start("json");
    await fetch(`${url}/tiles/${SECRET}?key=${SECRET}`, { method: "DELETE" });
    await written;
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: "2031-05-17T00:00:01.000Z",
        requestId: "req_1",
        method: "DELETE",
        path: "/tiles/pay_live_ZUU…",
        status: 404,
        ms: 500,
        remote: "127.0.0.1",
      },
    ]);
  });

  test("for people has one line per request", async () => {
    const { url, lines, written } = await start("pretty");
    await fetch(`${url}/tiles`);
    await written;
    expect(lines).toEqual(["2031-05-17T00:00:01.000Z 404 GET  /tiles 500 ms 127.0.0.1"]);
  });

  test("reports requests whose client disconnected", async () => {
    const { url, lines, written } = await start("pretty");
    await new Promise<void>((resolve) => get(`${url}/gone`).on("error", () => resolve()));
    await written;
    expect(lines[0]).toContain(" gone GET  /gone ");
  });

  test("is not written if it is turned off", async () => {
    const { url, lines } = await start("none");
    await fetch(`${url}/tiles`);
    expect(lines).toEqual([]);
  });
});

describe("the root path", () => {
  test("says what this is, and passes on every other path and method", async () => {
    const { url } = await start("none");
    const answer = await fetch(`${url}/`);
    expect(await answer.json()).toMatchObject({
      name: "latchkey",
      docs: "/v1/docs",
      openapi: "/v1/openapi.json",
      v2: { docs: "/v2/docs", openapi: "/v2/openapi.json" },
    });
    expect((await fetch(`${url}/`, { method: "HEAD" })).status).toBe(200);
    for (const [path, method] of [
      ["/", "POST"],
      ["/v1", "GET"],
    ] as const)
      expect((await fetch(`${url}${path}`, { method })).status).toBe(404);
  });
});

test("at the end of a server, a request on its way is answered, and its connection closes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = createServer();
  onTestFinished(() => void server.close().closeAllConnections());
  const drain = drainOf(server);
  server.on("request", (_, outgoing) => outgoing.end("answer"));
  const { port } = new URL(await listen(server, "127.0.0.1", 0));
  const client = connect({ host: "127.0.0.1", port: Number(port) });
  client.setEncoding("utf8");
  const ask = () => {
    client.write("GET / HTTP/1.1\r\nHost: latchkey\r\n\r\n");
    return new Promise<string>((resolve) => client.once("data", resolve));
  };
  expect(await ask()).toMatch(/^Connection: keep-alive\r$/m);
  const ended = drain(10_000);
  expect(await ask()).toMatch(/^Connection: close\r$/m);
  await ended;
});
