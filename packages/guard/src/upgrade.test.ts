import { once } from "node:events";
import { createServer, request, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createGuard } from "./node.js";
import { open } from "./testing/open.js";

test("node:http: an upgrade guarded as in the README is refused with a response, or counted until the socket closes", async () => {
  const { latchkey, issue } = await open();
  const slots = { name: "sockets", limit: 1, duration: "1m", algorithm: "concurrent" } as const;
  const upgrade = createGuard(latchkey, { onError: () => undefined })(
    { ratelimits: [slots] },
    (req, res) => {
      res.detachSocket(req.socket);
      req.socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tiles\r\n\r\n",
      );
      req.socket.resume().on("end", () => req.socket.destroy());
    },
  );
  const server = createServer().on("upgrade", (req, socket) => {
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(req.socket);
    res.on("finish", () => socket.end());
    void upgrade(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const dial = async (headers: Record<string, string>) => {
    const { port } = server.address() as AddressInfo;
    const dialling = request({
      port,
      headers: { ...headers, Connection: "Upgrade", Upgrade: "tiles" },
    });
    dialling.end();
    const [response, socket] = await Promise.race([
      once(dialling, "upgrade"),
      once(dialling, "response"),
    ]);
    if (socket === undefined) await once(response.resume(), "close");
    else onTestFinished(() => void socket.destroy());
    return { status: response.statusCode as number, socket };
  };
  const key = { "X-API-Key": await issue() };
  expect((await dial({})).status).toBe(401);
  const first = await dial(key);
  expect([first.status, (await dial(key)).status]).toEqual([101, 429]);
  first.socket.destroy();
  await expect.poll(async () => (await dial(key)).status).toBe(101);
});
