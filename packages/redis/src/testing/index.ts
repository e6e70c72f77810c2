export { startProxy } from "./proxy.js";
export { PATIENT, startServer, type TestServer } from "./redis-server.js";
export { promote, untilFollowed } from "./replication.js";
export { describeOnSharedRedis } from "./shared-server.js";
export { describeWithRedis, describeWithServers, REDIS_URL } from "./where.js";
