import type { Socket } from "node:net";
import { setImmediate } from "node:timers";

/** How long a connection may be silent while an answer is due, in ms. After that, ioredis gives it up. */
export const SOCKET_TIMEOUT_MS = 5_000;

/** The part of a client of one server that is used here. */
interface OneConnection {
  readonly stream: Socket;
  on(event: "connect", listener: () => void): unknown;
}

/**
 * Lets a silent connection live if something has come by the time that ioredis gives it up. After a process stood still (a frozen
 * container, a debugger), timers are due before anything is read: ioredis would drop the connection together with the answer.
 */
export function keepIfAnswered(client: OneConnection): void {
  client.on("connect", () => {
    const { stream } = client;
    const destroy = stream.destroy.bind(stream);
    stream.destroy = (error) => {
      if (!/^Socket timeout\b/.test(String(error?.message))) return destroy(error);
      const { bytesRead } = stream;
      setImmediate(() => {
        if (stream.bytesRead === bytesRead) destroy(error);
      });
      return stream;
    };
  });
}
