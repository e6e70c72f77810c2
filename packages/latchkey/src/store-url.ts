/** What a store URL asks for. */
export type StoreUrl =
  | { readonly kind: "memory" }
  /** `path`: a file, or `:memory:`. */
  | { readonly kind: "sqlite"; readonly path: string };

const KNOWN_FORMS = "memory:, sqlite:./keys.db, sqlite:/var/lib/keys.db or sqlite::memory:";

const REDIS_SCHEMES = ["redis:", "rediss:", "redis+cluster:"];

/**
 * Reads a store URL: `memory:`, or `sqlite:` followed by a path, which is taken as it is (no escapes, no query).
 *
 * @throws TypeError naming `url` and what it may be. The message never repeats more of the URL than its scheme: the
 * rest may hold a password.
 */
export function parseStoreUrl(url: string): StoreUrl {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  if (scheme === "memory:") {
    if (url.length > scheme.length) throw new TypeError('"url" must be just memory:, with no name');
    return { kind: "memory" };
  }
  if (scheme === "sqlite:") return { kind: "sqlite", path: sqlitePath(url.slice(scheme.length)) };
  if (scheme !== undefined && REDIS_SCHEMES.includes(scheme)) {
    throw new TypeError(
      `"url" asks for a Redis store (${scheme}//), which needs the package @latchkey/redis`,
    );
  }
  // Only what stands before "://" is surely a scheme: "user:password@host" has none.
  const isUrl = scheme !== undefined && url.startsWith("//", scheme.length);
  const unknown = isUrl ? `, not ${scheme}//` : "";
  throw new TypeError(`"url" must be ${KNOWN_FORMS}${unknown}`);
}

function sqlitePath(path: string): string {
  if (path === "")
    throw new TypeError('"url" must name a file after sqlite:, or be sqlite::memory:');
  // As a path, "//keys.db" would be a file at the root of the disk: surely not what was meant.
  if (/^\/\/(?!\/)/.test(path)) {
    throw new TypeError('"url" must not have a host: sqlite:./keys.db or sqlite:/var/lib/keys.db');
  }
  if (path.startsWith(":") && path !== ":memory:") {
    throw new TypeError('"url" must name a file after sqlite:, or be sqlite::memory:');
  }
  if (/[?#\0]/.test(path)) {
    throw new TypeError('"url" must not have a query or a fragment: the path is taken as it is');
  }
  return path;
}
