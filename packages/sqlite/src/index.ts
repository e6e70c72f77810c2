export { sqliteStore } from "./create-store.js";
export type { SqliteDatabase, SqliteRunResult, SqliteStatement } from "./database.js";
export type { Durability, SqliteStoreOptions } from "./options.js";
