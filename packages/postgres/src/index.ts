export type { PgliteDatabase, PostgresClient, PostgresPool } from "./engine/database.js";
export type { PostgresStoreOptions } from "./options.js";
export { migrate, postgresStore } from "./store.js";
