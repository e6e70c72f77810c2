export type { RedisClient, RedisClusterClient, RedisConnection } from "./client.js";
export type { RedisStoreOptions } from "./options.js";
export { redisStore } from "./redis-store.js";
