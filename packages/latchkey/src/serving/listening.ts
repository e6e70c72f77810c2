import type { Server, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";

/** How long clients without a request in progress stay connected at the end, in ms: their next request may be on its way. */
const ARRIVING_MS = 50;

/** Resolves at the first SIGTERM, SIGINT or SIGHUP. The second SIGTERM or SIGINT ends the process as usual. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve();
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
    // Stays: a terminal that closes may send it twice, from the shell and from the system.
    process.on("SIGHUP", () => resolve());
  });
}

/** Why a server cannot listen, by error code of Node. */
const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "permission denied; ports below 1024 often require root",
  ENOTFOUND: "there is no host with that name",
};

/** Starts to listen, and returns the address as a URL. */
export function listen(server: Server, hostname: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = REFUSALS[error.code ?? ""] ?? error.code ?? error.message;
      reject(new Error(`cannot listen on ${hostname} port ${port}: ${reason}`, { cause: error }));
    });
    server.listen({ host: hostname, port }, () => {
      const { port: actual } = server.address() as AddressInfo;
      resolve(`http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${actual}`);
    });
  });
}

/**
 * Prepares the end of a server. Call it before the server gets its listener of requests.
 *
 * @returns Accepts no more connections, lets requests in progress finish for at most `drainMs`, then closes the rest. From its call on,
 * each response says that its connection closes: a client that reused it would get no answer, and could not know whether it was charged.
 */
export function drainOf(server: Server): (drainMs: number) => Promise<void> {
  const unanswered = new Set<ServerResponse>();
  let isEnding = false;
  const sayClose = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader("Connection", "close");
  };
  server.on("request", (_, response) => {
    if (isEnding) return sayClose(response);
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
  });
  return (drainMs) =>
    new Promise((resolve) => {
      isEnding = true;
      for (const response of unanswered) sayClose(response);
      const cut = setTimeout(() => server.closeAllConnections(), drainMs);
      const sweep = setInterval(() => server.closeIdleConnections(), ARRIVING_MS);
      // Not the `close` of HTTP servers, which disconnects idle clients at once. On Bun, they are not servers of `node:net`.
      const { close }: Pick<NetServer, "close"> =
        server instanceof NetServer ? NetServer.prototype : server;
      close.call(server, () => {
        clearTimeout(cut);
        clearInterval(sweep);
        resolve();
      });
    });
}
