import { describeDeadlines } from "@latchkey/conformance";
import { postgresStore } from "./index.js";
import { startLink } from "./testing/link.js";
import { startServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const OPTIONS = { chargeTimeoutMs: 300, timeoutMs: 500, maxConnections: 2 };

describeWithServers("PostgreSQL behind a network", () => {
  describeDeadlines("PostgreSQL", async () => {
    const server = await startServer({ fsync: "off" });
    const link = await startLink(server);
    return {
      ...link,
      open: () => postgresStore(link.url, OPTIONS),
      remove: async () => {
        await link.close();
        await server.remove();
      },
    };
  });
});
