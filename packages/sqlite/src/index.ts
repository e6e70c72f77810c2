export type { SqliteDatabase, SqliteRunResult, SqliteStatement } from "./database.js";
export type { Durability, SqliteStoreOptions } from "./options.js";
export { sqliteStore } from "./sqlite-store.js";
