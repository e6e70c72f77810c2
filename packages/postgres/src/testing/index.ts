export { startServer, type TestServer } from "./postgres-server.js";
export { describeWithPostgres, POSTGRES_URL } from "./where.js";
