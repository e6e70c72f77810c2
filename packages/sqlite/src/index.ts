export type { SqliteDatabase, SqliteStatement } from "./engine/database.js";
export type { Durability, SqliteStoreOptions } from "./options.js";
export { sqliteStore } from "./store.js";
