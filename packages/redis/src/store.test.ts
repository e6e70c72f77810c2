import { Redis } from "ioredis";
import { beforeAll } from "vitest";
import { describeContract } from "./testing/contract.js";
import { NEVER_TWICE, startServer, type TestServer } from "./testing/redis-server.js";
import { afterTests, describeWithRedis, REDIS_URL } from "./testing/where.js";

describeWithRedis("one Redis server", () => {
  let server: TestServer | undefined;
  let clients: [Redis, Redis];

  beforeAll(async () => {
    server = REDIS_URL === null ? await startServer() : undefined;
    const url = REDIS_URL ?? (server as TestServer).url;
    clients = [new Redis(url, NEVER_TWICE), new Redis(url, NEVER_TWICE)];
  });
  afterTests(async () => {
    for (const client of clients) client.disconnect();
    await server?.remove();
  });

  describeContract("one Redis server", () => clients);
});
