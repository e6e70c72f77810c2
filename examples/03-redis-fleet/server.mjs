// One server of the fleet. It admits a request if its key is valid, and knows nothing about the other servers.

import { createServer } from "node:http";
import { createLatchkey, redisStore } from "latchkey";

const { REDIS_URL = "redis://127.0.0.1:6379", KEY_PREFIX = "lk" } = process.env;

const latchkey = createLatchkey({
  store: redisStore(REDIS_URL, { keyPrefix: KEY_PREFIX, commandTimeoutMs: 5_000 }),
});

const server = createServer(async (request, response) => {
  const key = request.headers.authorization?.replace(/^Bearer /, "") ?? "none";
  try {
    const verdict = await latchkey.verifyKey({ key, ratelimits: [{ name: "forecasts" }] });
    response.writeHead(verdict.valid ? 200 : 429).end(verdict.code);
  } catch {
    response.writeHead(503).end();
  }
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(address.port);
});
process.once("SIGTERM", () => server.close(() => latchkey.close()));
