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
  let isStalled = false;
  const follow = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on("data", (data) => to.write(data));
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    if (isStalled) from.pause();
  };
  const listening = createServer((client) => {
    const behind = connect(join(server.folder, SOCKET));
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
    heal: () => {
      isStalled = false;
      for (const socket of sockets) socket.resume();
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
