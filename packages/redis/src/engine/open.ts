import type { Cluster } from "ioredis";
import type { Settings } from "../options.js";
import type { RedisClient, RedisClusterClient } from "./client.js";
import { loadDriver } from "./load-driver.js";

const FORMS =
  '"url" must be redis://host:port or redis://host:port/database-number (rediss:// with TLS), or redis+cluster://host:port,host:port (rediss+cluster:// with TLS), with nothing after that; user:password@ before the host is percent-encoded';

/**
 * What keeps a lost answer from being asked for again: the command may have been carried out, and a repeat charges
 * twice. `autoResendUnfulfilledCommands` is left alone: switched off, ioredis 6.0.0 never settles what was in flight.
 *
 * @see packages/core/decisions/0006-charge-is-one-atomic-step.md
 */
const NEVER_TWICE = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // Reconnects when the server has become a replica. 2 would send the command again.
  reconnectOnError: (error: Error) => (error.message.startsWith("READONLY") ? 1 : false),
  retryStrategy: soon,
} as const;

/** A connection whose other end is gone without a word is given up after this long. */
const SOCKET_TIMEOUT_MS = 5_000;

const SLOTS_REFRESH_MS = 2_000;

/**
 * Opens a client for a URL.
 *
 * @throws TypeError when the URL is of no form that is known; its text, which may hold a password, is not repeated.
 */
export function openUrl(url: string, settings: Settings): RedisClient | RedisClusterClient {
  const client = /^rediss?\+cluster:\/\//.test(url)
    ? openCluster(url, settings)
    : openServer(url, settings);
  // Without a listener ioredis writes to the console. What goes wrong is told to whoever calls.
  client.on("error", () => undefined);
  return client;
}

function openServer(url: string, settings: Settings): RedisClient {
  assertServerUrl(url);
  const { Redis } = loadDriver();
  return new Redis(url, {
    ...NEVER_TWICE,
    connectTimeout: settings.connectTimeoutMs,
    socketTimeout: SOCKET_TIMEOUT_MS,
  });
}

/**
 * ioredis takes the path as it is, and whatever stands in the query as options: `/abc` ends the process with a rejection
 * that nobody can handle, `?tls=…` decides on TLS.
 */
function assertServerUrl(url: string): void {
  if (!/^rediss?:\/\/[^?#\s]*$/.test(url) || !URL.canParse(url)) throw new TypeError(FORMS);
  const { username, password, pathname } = new URL(url);
  decode(username);
  decode(password);
  if (!/^(\/\d*)?$/.test(pathname)) throw new TypeError(FORMS);
}

function openCluster(url: string, settings: Settings): RedisClusterClient {
  const [scheme = "", rest = ""] = url.split("+cluster://");
  const at = rest.lastIndexOf("@");
  const nodes = rest
    .slice(at + 1)
    .split(",")
    .map(parseNode);
  const credentials = at === -1 ? {} : parseCredentials(rest.slice(0, at));
  const { maxRetriesPerRequest, reconnectOnError } = NEVER_TWICE;
  const driver = loadDriver();
  const cluster: Cluster = new driver.Cluster(nodes, {
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
    // Nothing was done, and the caller is told so at once.
    retryDelayOnClusterDown: 0,
    scaleReads: "master",
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    // The only place where ioredis tells that no host was found. A client of one server tells it as this event.
    clusterRetryStrategy: (times, reason) => {
      if (reason !== undefined) cluster.emit("error", reason);
      return soon(times);
    },
    redisOptions: {
      ...credentials,
      ...(scheme === "rediss" ? { tls: {} } : {}),
      maxRetriesPerRequest,
      reconnectOnError,
      connectTimeout: settings.connectTimeoutMs,
      socketTimeout: SOCKET_TIMEOUT_MS,
    },
  });
  return cluster;
}

function parseNode(node: string): { host: string; port: number } {
  const url = `redis://${node}`;
  if (!/^[^/?#\s]+$/.test(node) || !URL.canParse(url)) throw new TypeError(FORMS);
  const parsed = new URL(url);
  if (parsed.hostname === "") throw new TypeError(FORMS);
  return { host: parsed.hostname.replace(/^\[|\]$/g, ""), port: Number(parsed.port || 6379) };
}

function parseCredentials(text: string): { username?: string; password: string } {
  const colon = text.indexOf(":");
  const username = decode(text.slice(0, Math.max(0, colon)));
  const password = decode(text.slice(colon + 1));
  return username === "" ? { password } : { username, password };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not as a cause: what could not be decoded may be a password.
    throw new TypeError(FORMS);
  }
}

/** Half to all of a delay that doubles up to one second, so that a fleet does not come back as one. */
function soon(times: number): number {
  const longest = Math.min(1_000, 25 * 2 ** Math.min(times, 10));
  return Math.round(longest * (0.5 + Math.random() / 2));
}
