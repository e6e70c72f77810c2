export type { RedisClient, RedisClusterClient, RedisConnection } from "./engine/client.js";
export type { RedisStoreOptions } from "./options.js";
export { redisStore } from "./store.js";
