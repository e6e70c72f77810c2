import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";

/** A server of one test. */
export interface Listening {
  readonly port: number;
  readonly origin: string;
  readonly server: Server;
}

/** Listens on a free port until the test is over. */
export async function listen(listener: RequestListener | Server): Promise<Listening> {
  const server = typeof listener === "function" ? createServer(listener) : listener;
  if (!server.listening) {
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
  }
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}`, server };
}

/** Writes raw bytes to a socket, and returns everything received until the other side disconnects. */
export function exchange(port: number, ...parts: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    const finish = () => resolve(Buffer.concat(chunks).toString("latin1"));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", finish).on("error", finish);
    for (const part of parts) socket.write(part);
  });
}
