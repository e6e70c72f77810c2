export type { SqliteDatabase, SqliteRunResult, SqliteStatement } from "./engine/database.js";
export type { Durability, SqliteStoreOptions } from "./options.js";
export { sqliteStore } from "./store.js";
