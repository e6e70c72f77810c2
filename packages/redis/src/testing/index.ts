export { PATIENT, startServer, type TestServer } from "./redis-server.js";
export { describeOnSharedRedis } from "./shared-server.js";
export { describeWithRedis, REDIS_URL } from "./where.js";
