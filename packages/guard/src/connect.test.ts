import { EventEmitter, once } from "node:events";
import { request } from "node:http";
import { expect, test, vi } from "vitest";
import { apiKeyOf, createGuard } from "./express.js";
import { listenOn } from "./testing/listen.js";
import { open } from "./testing/open.js";

/** The response that Socket.IO passes to middleware before the handshake of a WebSocket: a few methods on its socket. */
class HandshakeResponse extends EventEmitter {
  readonly #socket: NodeJS.WritableStream & { destroy(): void };

  constructor(socket: NodeJS.WritableStream & { destroy(): void }) {
    super();
    this.#socket = socket;
    socket.once("close", () => this.emit("close"));
  }

  setHeader(): void {}

  end(): void {
    this.emit("finish");
    this.#socket.destroy();
  }
}

test("a server that takes the middleware of Express and has no locals finds the verdict in the request", async () => {
  const { latchkey, issue } = await open();
  const onError = vi.fn();
  const middleware = createGuard(latchkey, { onError })({ ratelimits: [slots] });
  const port = await listenOn((req, res) => {
    middleware(req, res as never, () => res.end(apiKeyOf(req)?.code));
  });
  const send = async (headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${port}`, { headers });
    return [response.status, await response.text()];
  };
  expect(await send({ "X-API-Key": await issue() })).toEqual([200, "VALID"]);
  expect(await send({})).toEqual([401, expect.stringContaining("KEY_MISSING")]);
  expect(onError).not.toHaveBeenCalled();
});

test("a slot that the handshake of a WebSocket takes is held until its socket closes, though its response has no locals either", async () => {
  const { latchkey, issue } = await open();
  const onError = vi.fn();
  const middleware = createGuard(latchkey, { onError })({ ratelimits: [slots] });
  const port = await listenOn(
    () => undefined,
    (req, socket) => {
      middleware(req, new HandshakeResponse(socket as never) as never, () => {
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tiles\r\n\r\n",
        );
        socket.resume().on("end", () => socket.destroy());
      });
    },
  );
  const key = await issue();
  const dial = async (secret: string) => {
    const headers = { "X-API-Key": secret, Connection: "Upgrade", Upgrade: "tiles" };
    const dialling = request({ port, headers });
    dialling.end();
    return once(dialling, "upgrade").then(
      ([, socket]) => socket,
      () => null,
    );
  };
  expect(await dial("bad")).toBe(null);
  const socket = await dial(key);
  expect(await dial(key)).toBe(null);
  socket.destroy();
  await expect.poll(() => dial(key)).not.toBe(null);
  expect(onError).not.toHaveBeenCalled();
});

test("middleware returns no promise: Restify would take its end for a call of next, even after a refusal", async () => {
  const { latchkey } = await open();
  const middleware = createGuard(latchkey)();
  // Restify accepts a plain function with three parameters.
  expect([middleware.length, middleware.constructor]).toEqual([3, Function]);
  const next = vi.fn();
  const port = await listenOn((req, res) => {
    const result: unknown = middleware(req, res as never, next);
    if (result instanceof Promise) void result.then(next);
  });
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(401);
  expect(next).not.toHaveBeenCalled();
});

const slots = { name: "sockets", limit: 1, duration: "1m", algorithm: "concurrent" } as const;
