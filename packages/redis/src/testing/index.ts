export { startServer, type TestServer } from "./redis-server.js";
export { describeWithRedis, REDIS_URL } from "./where.js";
