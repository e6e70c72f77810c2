/** The option of a command whose store must outlive it. */
export const LASTING_STORE_HELP = `  --store <url>         where keys live: sqlite:./keys.db, sqlite:/var/lib/keys.db, redis://host:6379/0,
                        rediss://host:6379/0 (TLS), redis+cluster://a:6379,b:6379,
                        postgres://user@host/database`;

/** The same where keys may end with the command. */
export const STORE_HELP = `${LASTING_STORE_HELP}, memory:, sqlite::memory:`;

/** The options that accept a Redis which others would call unfit to hold keys. */
export const REDIS_HELP = `  --allow-no-persistence
                        Redis: take one without "appendonly yes"; it loses keys and revocations when it stops
  --allow-eviction      Redis: take one without "maxmemory-policy noeviction"; it loses them when its memory is full`;

/** The environment variables that every command reads. */
export const ENVIRONMENT_HELP = `Environment:
  LATCHKEY_STORE        the store, where --store is not given
  LATCHKEY_VAULT_KEY    key for recoverable secrets: 32 bytes in base64, or id:base64,id:base64 (first is current)
  LATCHKEY_PEPPER       secret that hashes are keyed with: 32 to 64 bytes, same forms`;
