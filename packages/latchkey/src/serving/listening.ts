import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Resolves with the first SIGTERM or SIGINT. The next one ends the process, as it would have without this. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve();
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
  });
}

/** Why a server cannot listen, by codes of Node. */
const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "this user may not listen there; ports below 1024 are often for root alone",
  ENOTFOUND: "there is no host of that name",
};

/** Listens, and answers the address as a URL. */
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

/** Takes no more connections, lets requests in flight finish for at most `drainMs`, then cuts what is left. */
export function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    // A kept-alive connection falls idle only after its last answer, and would hold the server open till its timeout.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}
