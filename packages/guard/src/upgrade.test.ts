import { errorMonitor, once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
  type ApiKey,
  type CreateNodeGuard,
  createGuard,
  type GuardQuestion,
  type NodeHandler,
} from "./node.js";
import { open } from "./testing/open.js";

type Question = GuardQuestion<IncomingMessage> & { readonly optional?: false };

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The program of the README that guards upgrades. */
const [, program = ""] = /^```js\n(const heads = .*?)^```$/ms.exec(readme) ?? [];

/** Accepts an upgrade, as the package `ws` does. */
const sockets = {
  handleUpgrade(_req: IncomingMessage, socket: Socket) {
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tiles\r\n\r\n",
    );
    socket.resume().on("end", () => socket.destroy());
  },
};

/** Starts a server that runs the program of the README. `question`: asked instead of the one of the program. */
async function startUpgrades(guard: CreateNodeGuard, question?: Question) {
  const asking = (asked: Question, handler: NodeHandler<ApiKey>) =>
    guard(question ?? asked, handler);
  const server = createServer();
  const run = new Function("server", "guard", "sockets", "ServerResponse", program);
  run(server, asking, sockets, ServerResponse);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

test("node:http: an upgrade guarded as in the README is refused with a response, or counted until the socket closes", async () => {
  const { latchkey, issue } = await open();
  const slots = { name: "sockets", limit: 1, duration: "1m", algorithm: "concurrent" } as const;
  const guard = createGuard(latchkey, { onError: () => undefined });
  const { port } = await startUpgrades(guard, { ratelimits: [slots] });
  const dial = async (headers: Record<string, string>) => {
    const dialling = request({
      port,
      headers: { ...headers, Connection: "Upgrade", Upgrade: "tiles" },
    });
    dialling.end();
    const [response, socket] = await Promise.race([
      once(dialling, "upgrade"),
      once(dialling, "response"),
    ]);
    if (socket === undefined) await once(response.resume(), "close");
    else onTestFinished(() => void socket.destroy());
    return { status: response.statusCode as number, socket };
  };
  const key = { "X-API-Key": await issue() };
  expect((await dial({})).status).toBe(401);
  const first = await dial(key);
  expect([first.status, (await dial(key)).status]).toEqual([101, 429]);
  first.socket.destroy();
  await expect.poll(async () => (await dial(key)).status).toBe(101);
});

const HANDSHAKE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: tiles\r\n\r\n";

test("node:http: a client that resets its connection before an upgrade is decided does not crash the process", async () => {
  const { latchkey } = await open();
  let reset = (): void => undefined;
  let decide = (): void => undefined;
  const getKey = () => {
    reset();
    return new Promise<null>((resolve) => {
      decide = () => resolve(null);
    });
  };
  const { server, port } = await startUpgrades(createGuard(latchkey, { getKey }));
  const listening = new Promise<number>((resolve) => {
    server.prependListener("upgrade", (_req, socket) => {
      socket.on(errorMonitor, () => resolve(socket.listenerCount("error")));
    });
  });
  const socket = connect(port, "127.0.0.1", () => socket.write(HANDSHAKE));
  reset = () => void socket.resetAndDestroy();
  // Node ends the process at an error of a socket that has no listener for it.
  expect(await listening).toBeGreaterThan(0);
  decide();
});

test("node:http: a refused upgrade is closed, even if the client keeps its side open", async () => {
  const { latchkey } = await open();
  const { server, port } = await startUpgrades(createGuard(latchkey));
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => {
    socket.write(HANDSHAKE);
  });
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  await once(socket, "end");
  expect(received).toMatch(/^HTTP\/1.1 401 /);
  const connections = () =>
    new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
});
