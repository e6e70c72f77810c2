import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Resolves at the first SIGTERM, SIGINT or SIGHUP. The next SIGTERM or SIGINT ends the process as usual. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve();
    };
    // Remains: a terminal that closes may send it twice, from the shell and from the system.
    process.on("SIGHUP", stop);
    process.on("SIGTERM", stop).on("SIGINT", stop);
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

/** Accepts no more connections, lets requests in progress finish for at most `drainMs`, then closes the rest. */
export function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    // A keep-alive connection becomes idle only after its last response, and would keep the server open until its timeout.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}
