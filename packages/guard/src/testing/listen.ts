import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { serve } from "@hono/node-server";
import { onTestFinished } from "vitest";

/** Listens on a free port until the test is over; returns the port. `upgrade`: called for a request to switch protocols. */
export const listenOn = async (
  listener: RequestListener,
  upgrade?: (request: IncomingMessage, socket: Duplex) => void,
): Promise<number> => {
  const server = createServer(listener);
  const sockets = new Set<Duplex>();
  if (upgrade !== undefined)
    server.on("upgrade", (request, socket) => {
      sockets.add(socket);
      upgrade(request, socket);
    });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

/** Listens as an app of Elysia on Node does, until the test is over; returns the port. */
export const serveElysia = async (app: {
  listen(options: object, listening: (server: unknown) => void): unknown;
}): Promise<number> => {
  const { node } = (await new Promise<unknown>((resolve) => {
    app.listen({ port: 0, hostname: "127.0.0.1" }, resolve);
  })) as { readonly node: { readonly server: Server } };
  if (!node.server.listening) await once(node.server, "listening");
  onTestFinished(async () => {
    node.server.closeAllConnections();
    await new Promise((resolve) => node.server.close(resolve));
  });
  return (node.server.address() as AddressInfo).port;
};

/** Serves with the listener of `@hono/node-server` until the test is over; returns the port. */
export const serveFetch = (fetch: Parameters<typeof serve>[0]["fetch"]): Promise<number> =>
  new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
    onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())));
  });
