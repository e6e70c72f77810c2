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

/** Listens, and answers the address as a URL. */
export function listen(server: Server, hostname: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "EADDRINUSE" ? "the port is in use" : (error.code ?? error.message);
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
