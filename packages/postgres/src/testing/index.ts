export { startServer, type TestServer } from "./postgres-server.js";
export { ask } from "./standby.js";
export { describeWithPostgres, describeWithServers, POSTGRES_URL } from "./where.js";
