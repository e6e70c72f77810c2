/** The store that a URL names. */
export type StoreUrl =
  | { readonly kind: "memory" }
  /** `path`: a file, or `:memory:`. */
  | { readonly kind: "sqlite"; readonly path: string }
  /** `url`: as `redisStore` takes it. It may hold a password. */
  | { readonly kind: "redis"; readonly url: string }
  /** `url`: as `postgresStore` takes it. It may hold a password. */
  | { readonly kind: "postgres"; readonly url: string };

const KNOWN_FORMS =
  "memory:, sqlite:./keys.db, sqlite:/var/lib/keys.db, sqlite::memory:, redis://host:6379/0, rediss://host:6379/0, redis+cluster://a:6379,b:6379 or postgres://user@host/database";

const POSTGRES_SCHEMES = ["postgres:", "postgresql:"];

const REDIS_SCHEMES = ["redis:", "rediss:", "redis+cluster:", "rediss+cluster:"];

/**
 * Reads a store URL: `memory:`; `sqlite:` followed by a path, which is used unchanged (no escapes, no query); `redis:`, `rediss:` (TLS) and
 * `redis+cluster:`, which `redisStore` reads; or `postgres:`, which `postgresStore` reads.
 *
 * @throws TypeError naming `url` and what it may be. The message never repeats more of the URL than its scheme: the
 * rest may hold a password.
 */
export function parseStoreUrl(url: string): StoreUrl {
  // Otherwise a URL object would be read as its text here, and refused by the store as a wrong client.
  if (typeof url !== "string") throw new TypeError(`"url" must be a string: ${KNOWN_FORMS}`);
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  if (scheme === "memory:") {
    if (url.length > scheme.length) throw new TypeError('"url" must be just memory:, with no name');
    return { kind: "memory" };
  }
  if (scheme === "sqlite:") return { kind: "sqlite", path: sqlitePath(url.slice(scheme.length)) };
  if (scheme !== undefined) {
    // A scheme may be written in capitals, which the stores do not expect.
    const known = `${scheme}${url.slice(scheme.length)}`;
    if (REDIS_SCHEMES.includes(scheme)) return { kind: "redis", url: known };
    if (POSTGRES_SCHEMES.includes(scheme)) return { kind: "postgres", url: known };
  }
  // Only text before "://" is certainly a scheme: "user:password@host" has none.
  const isUrl = scheme !== undefined && url.startsWith("//", scheme.length);
  const unknown = isUrl ? `, not ${scheme}//` : "";
  throw new TypeError(`"url" must be ${KNOWN_FORMS}${unknown}`);
}

/** Whether the contents of a store are lost when the process ends. */
export function isInMemory(store: StoreUrl): boolean {
  return store.kind === "memory" || (store.kind === "sqlite" && store.path === ":memory:");
}

/** Scheme, user and password, hosts, and a path of one word. Any other form may have a password anywhere. */
const SERVER_URL = /^([a-z+]+:\/\/)(?:[^@?#/]*@)?([\w.:,[\]-]+(?:\/\w*)?)(?:\?[^@]*)?$/i;

/** The URL of a store for messages: without user, password and query. If it is hard to parse, only the scheme is left. */
export function withoutPassword(url: string): string {
  if (!url.includes("://")) return url;
  const [, scheme, address] = SERVER_URL.exec(url) ?? [];
  return scheme === undefined ? url.replace(/:.*/s, "://…") : `${scheme}${address}`;
}

/** Whether a text is the URL of a server, or an option with one, that contains a password. */
export function hasPassword(text: string): boolean {
  const isServer = [...REDIS_SCHEMES, ...POSTGRES_SCHEMES].some((scheme) =>
    new RegExp(`^(?:--[a-z-]+=)?${scheme.replace("+", "\\+")}//`, "i").test(text),
  );
  return isServer && (hasPasswordBefore(text) || /[?&][a-z]*password=[^&]/i.test(text));
}

/** Whether there is a password before the host. Not one regular expression, which would take quadratic time. */
function hasPasswordBefore(url: string): boolean {
  const address = url.slice(url.indexOf("//") + 2);
  const colon = address.search(/[:/?#@]/);
  return address[colon] === ":" && address.indexOf("@", colon + 1) > colon + 1;
}

function sqlitePath(path: string): string {
  if (path === "")
    throw new TypeError('"url" must name a file after sqlite:, or be sqlite::memory:');
  // As a path, "//keys.db" would be a file in the root directory, which is certainly not intended.
  if (/^\/\/(?!\/)/.test(path)) {
    throw new TypeError('"url" must not have a host: sqlite:./keys.db or sqlite:/var/lib/keys.db');
  }
  if (path.startsWith(":") && path !== ":memory:") {
    throw new TypeError('"url" must name a file after sqlite:, or be sqlite::memory:');
  }
  if (path.startsWith("~/"))
    throw new TypeError(
      '"url" must not begin with ~, which is not expanded: write out your home directory',
    );
  if (/[?#\0]/.test(path)) {
    throw new TypeError('"url" must not have a query or a fragment: the path is used as is');
  }
  return path;
}
