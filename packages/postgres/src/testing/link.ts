import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestServer } from "./postgres-server.js";

const SOCKET = ".s.PGSQL.5432";

/** Starts a link to a server that can hold back what is sent, in both directions, or break. */
export async function startLink(server: TestServer) {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-link-"));
  const sockets = new Set<Socket>();
  const toServer = new Set<Socket>();
  let isStalled = false;
  const follow = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on("data", (data) => to.write(data));
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      toServer.delete(from);
      to.destroy();
    });
    if (isStalled) from.pause();
  };
  const listening = createServer((client) => {
    const behind = connect(join(server.folder, SOCKET));
    toServer.add(behind);
    follow(client, behind);
    follow(behind, client);
  });
  await new Promise<void>((resolve) => listening.listen(join(folder, SOCKET), resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `postgres://postgres@/postgres?host=${encodeURIComponent(folder)}`,
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    // What the server has said arrives first: a write to a socket that it has closed would end the link before that was read.
    heal: () => {
      isStalled = false;
      for (const socket of toServer) socket.resume();
      setImmediate(() => {
        for (const socket of sockets) if (!isStalled) socket.resume();
      });
    },
    cut,
    close: async () => {
      const closed = new Promise((resolve) => listening.close(resolve));
      cut();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
