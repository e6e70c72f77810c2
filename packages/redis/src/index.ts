export type { RedisClient, RedisClusterClient } from "./engine/client.js";
export type { RedisStoreOptions } from "./options.js";
export { redisStore } from "./store.js";
