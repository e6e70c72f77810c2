import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { onTestFinished } from "vitest";

/** The header that a console requires for everything but its page. */
export const OWN = { "x-latchkey-console": "1" };

/** A latchkey on an empty store in memory. */
export function openLatchkey(): Latchkey {
  const latchkey = createLatchkey({ store: memoryStore() });
  onTestFinished(() => latchkey.close());
  return latchkey;
}

/** Listens on a free port of the loopback address until the test is over, and returns the origin. */
export async function listen(listener: RequestListener | Server): Promise<string> {
  const server = typeof listener === "function" ? createServer(listener) : listener;
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A response with its body read as JSON. */
export async function jsonOf(
  response: Response,
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
): Promise<{ readonly status: number; readonly body: any; readonly headers: Headers }> {
  return { status: response.status, body: await response.json(), headers: response.headers };
}
