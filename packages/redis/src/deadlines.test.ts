import { describeDeadlines } from "@latchkey/conformance";
import { redisStore } from "./index.js";
import { startProxy } from "./testing/proxy.js";
import { startServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const TIMEOUTS = { commandTimeoutMs: 300, configTimeoutMs: 300, connectTimeoutMs: 1_000 };

describeWithServers("Redis behind a network", () => {
  describeDeadlines("Redis", async () => {
    const server = await startServer();
    const link = await startProxy(server.port);
    return {
      ...link,
      open: () => redisStore(link.url, TIMEOUTS),
      remove: async () => {
        await link.close();
        await server.remove();
      },
    };
  });
});
