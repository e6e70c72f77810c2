import { createServer, type Server, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../testing/receiver.js";
import type { Resolve } from "./lookup.js";
import { post } from "./post.js";

const LOOPBACK = ["127.0.0.0/8"];
const MESSAGE = {
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "key.created", data: { id: "evt_1", resourceId: "key_1" } }),
};
const never = new AbortController().signal;

function send(
  url: string,
  { allow = LOOPBACK, timeoutMs = 10_000, resolve }: Partial<Parameters<typeof post>[0]> = {},
  signal = never,
) {
  return post({ url: new URL(url), allow, timeoutMs, resolve }, MESSAGE, signal);
}

/** A server of bare sockets, which counts its connections. */
async function startSockets(onData: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let count = 0;
  const server: Server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", () => onData(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address() as { readonly port: number };
  return { url: `http://127.0.0.1:${address.port}/`, port: address.port, count: () => count };
}

const refused = (failure: string, rest: object = {}) => ({
  kind: "refused",
  failure,
  isFinal: false,
  retryAfterMs: 0,
  ...rest,
});

describe("a response", () => {
  test.each([200, 201, 202, 204, 299])("with %i takes the event", async (status) => {
    const { url } = await startReceiver(status);
    expect(await send(url)).toEqual({ kind: "taken" });
  });

  test.each([300, 304, 400, 401, 404, 429, 500, 502, 503])("with %i does not", async (status) => {
    const { url } = await startReceiver(status);
    expect(await send(url)).toEqual(refused(String(status)));
  });

  test("with 410 is final: the event must not be sent again", async () => {
    const { url } = await startReceiver(410);
    expect(await send(url)).toEqual(refused("410", { isFinal: true }));
  });

  test("can ask for a pause, in seconds, of at most a day", async () => {
    const { url, answerWith } = await startReceiver();
    const pauseOf = async (value: string) => {
      answerWith((response) => response.writeHead(503, { "retry-after": value }).end());
      const outcome = await send(url);
      return "retryAfterMs" in outcome && outcome.retryAfterMs;
    };
    expect(await pauseOf("120")).toBe(120_000);
    expect(await pauseOf("999999999")).toBe(86_400_000);
    for (const text of ["-1", "1e3", "Wed, 21 Oct 2026 07:28:00 GMT", ""])
      expect(await pauseOf(text)).toBe(0);
  });

  test("that is a redirect is not followed", async () => {
    const other = await startReceiver();
    const { url } = await startReceiver((response) =>
      response.writeHead(307, { location: other.url }).end(),
    );
    expect(await send(url)).toEqual(refused("307"));
    expect(other.received).toEqual([]);
  });

  test("that never comes is a timeout", async () => {
    const { url } = await startReceiver(() => undefined);
    expect(await send(url, { timeoutMs: 50 })).toEqual(refused("timeout"));
  });

  test("whose head comes byte by byte is a timeout", async () => {
    const { url } = await startSockets((socket) => {
      const head = "HTTP/1.1 200 OK\r\nx: ";
      let at = 0;
      const timer = setInterval(() => socket.write(head[at++] ?? "a"), 5);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(url, { timeoutMs: 100 })).toEqual(refused("timeout"));
  });

  test("whose body comes byte by byte counts by its status, and is aborted at the deadline", async () => {
    const { url } = await startSockets((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
      const timer = setInterval(() => socket.write("a"), 5);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await send(url, { timeoutMs: 100 })).toEqual({ kind: "taken" });
  });

  test("is aborted after 16 KiB of its body", async () => {
    let end = (_written: number): void => undefined;
    const ended = new Promise<number>((resolve) => {
      end = resolve;
    });
    const { url } = await startSockets((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      let written = 0;
      const write = () => {
        if (socket.destroyed) return;
        written += 65_536;
        socket.write("a".repeat(65_536), () => setImmediate(write));
      };
      socket.on("close", () => end(written));
      write();
    });
    expect(await send(url)).toEqual({ kind: "taken" });
    expect(await ended).toBeLessThan(64 * 1024 * 1024);
  });

  test.each([
    [
      "has a head above 16 KiB",
      `HTTP/1.1 200 OK\r\nx: ${"a".repeat(20_000)}\r\n\r\n`,
      "HPE_HEADER_OVERFLOW",
    ],
    ["is not HTTP", "SSH-2.0-server\r\n\r\n", "HPE_INVALID_CONSTANT"],
    ["ends within its head", "HTTP/1.1 200", "ECONNRESET"],
    [
      "changes the protocol",
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      "no-answer",
    ],
  ])("that %s does not take the event", async (_, text, failure) => {
    const { url } = await startSockets((socket) => socket.end(text));
    expect(await send(url)).toEqual(refused(failure));
  });

  test("is not waited for if the port is closed", async () => {
    const { url } = await startSockets(() => undefined);
    const closed = new URL(url);
    closed.port = "1";
    expect(await send(closed.href)).toEqual(refused("ECONNREFUSED"));
  });
});

describe("an aborted request", () => {
  test("resolves as stopped, and is not sent at all if it was aborted before", async () => {
    const { url, received } = await startReceiver(() => undefined);
    const controller = new AbortController();
    const sent = send(url, {}, controller.signal);
    await expect.poll(() => received.length).toBe(1);
    controller.abort();
    expect(await sent).toEqual({ kind: "stopped" });
    expect(await send(url, {}, controller.signal)).toEqual({ kind: "stopped" });
    expect(received).toHaveLength(1);
  });
});

describe("a private address", () => {
  test.each([
    "127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "127.1",
    "0x7f000001",
    "2130706433",
    "localhost",
  ])("is not connected to as %s", async (host) => {
    const { port, count } = await startSockets((socket) => socket.end());
    const outcome = await send(`http://${host}:${port}/`, { allow: [] });
    expect(outcome).toEqual(refused("private-address"));
    expect(count()).toBe(0);
  });

  const resolvesTo =
    (...rounds: readonly (readonly string[])[]): Resolve =>
    (_, __, callback) => {
      const addresses = rounds[Math.min(asked, rounds.length - 1)] ?? [];
      asked += 1;
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    };
  let asked = 0;

  test.each([
    ["only one", ["127.0.0.1"]],
    ["second of two", ["93.184.215.14", "127.0.0.1"]],
    ["first of two", ["10.0.0.1", "93.184.215.14"]],
    ["only one, written as IPv6", ["::ffff:127.0.0.1"]],
    ["metadata service of a cloud", ["169.254.169.254"]],
  ])("is not connected to if a name resolves to it: the %s", async (_, addresses) => {
    asked = 0;
    const { port, count } = await startSockets((socket) => socket.end());
    const url = `http://hooks.example:${port}/`;
    const resolve = resolvesTo(addresses);
    expect(await send(url, { allow: [], resolve })).toEqual(refused("private-address"));
    expect(count()).toBe(0);
  });

  test("is not connected to through a name that resolves differently the second time: it is resolved once", async () => {
    asked = 0;
    const { received, url } = await startReceiver();
    const { port } = new URL(url);
    const resolve = resolvesTo(["127.0.0.1"], ["127.0.0.99"]);
    const allow = ["127.0.0.1"];
    expect(await send(`http://hooks.example:${port}/`, { allow, resolve })).toEqual({
      kind: "taken",
    });
    expect(asked).toBe(1);
    expect(received[0]?.headers.host).toBe(`hooks.example:${port}`);
  });

  test("is reported in another way than a name without addresses", async () => {
    expect(await send("http://hooks.example/", { resolve: resolvesTo([]) })).toEqual(
      refused("unreachable"),
    );
  });
});
