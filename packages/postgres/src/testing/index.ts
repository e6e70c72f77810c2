export { duringTransaction } from "./open-transaction.js";
export { PATIENT, startServer, type TestServer } from "./postgres-server.js";
export { describeOnSharedPostgres } from "./shared-server.js";
export { ask } from "./standby.js";
export { describeWithPostgres, describeWithServers, POSTGRES_URL } from "./where.js";
