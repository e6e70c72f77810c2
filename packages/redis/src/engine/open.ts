import type { Cluster } from "ioredis";
import type { Settings } from "../options.js";
import type { RedisClient } from "./client.js";
import { loadIoredis } from "./load-driver.js";
import { keepIfAnswered, SOCKET_TIMEOUT_MS } from "./silent-connection.js";

const FORM = /^redis(s?)(\+cluster)?:\/\/([^?#\s]*@)?([^?#\s@]*)$/;
const FORMS =
  '"url" must be redis://host:port or redis://host:port/database-number (rediss:// with TLS), or redis+cluster://host:port,host:port (rediss+cluster:// with TLS), with nothing after that; user:password@ before the host is percent-encoded';

/**
 * Opens a client for a URL.
 *
 * @throws TypeError for a URL of an unknown form; its text, which may contain a password, is not repeated.
 */
export function openUrl(url: string, settings: Settings): RedisClient {
  const [, tls, cluster, user = "", addresses] = FORM.exec(url) ?? [];
  if (addresses === undefined) throw new TypeError(FORMS);
  const hosts = cluster === undefined ? [addresses] : addresses.split(",");
  const nodes = hosts.map((host) => parseNode(`redis://${user}${host}`));
  const options = optionsOf(nodes[0] as Node, tls === "s", settings);
  const client =
    cluster === undefined ? openServer(nodes[0] as Node, options) : openCluster(nodes, options);
  // Without a listener, ioredis writes to the console. Callers get the errors.
  client.on("error", () => undefined);
  return client;
}

/**
 * Options of each connection. A command is not repeated after a lost reply: it may have been carried out, and a repeat would charge
 * twice. `autoResendUnfulfilledCommands` keeps its default: if it is off, ioredis 6.0.0 never settles commands in flight.
 *
 * @see packages/core/decisions/0006-charge-is-one-atomic-step.md
 */
function optionsOf({ username, password }: Node, isTls: boolean, settings: Settings) {
  return {
    maxRetriesPerRequest: 0,
    // Reconnects when the server has become a replica. 2 would resend the command.
    reconnectOnError: (error: Error) => (error.message.startsWith("READONLY") ? 1 : false),
    ...(username !== "" && { username }),
    ...(password !== "" && { password }),
    ...(isTls && { tls: {} }),
    connectTimeout: settings.connectTimeoutMs,
    socketTimeout: SOCKET_TIMEOUT_MS,
  };
}

function openServer({ host, port, path }: Node, options: Options): RedisClient {
  const { Redis } = loadIoredis();
  const db = Number(path.slice(1));
  const settings = { ...options, host, port, db, enableOfflineQueue: false, retryStrategy: soon };
  const client = new Redis(settings);
  keepIfAnswered(client);
  return client;
}

function openCluster(nodes: readonly Node[], redisOptions: Options): RedisClient {
  if (nodes.some(({ host, path }) => host === "" || path !== "")) throw new TypeError(FORMS);
  const driver = loadIoredis();
  const cluster: Cluster = new driver.Cluster(
    nodes.map(({ host, port }) => ({ host, port })),
    {
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      // Nothing was done, and the caller learns it at once.
      retryDelayOnClusterDown: 0,
      scaleReads: "master",
      slotsRefreshInterval: 2_000,
      // The only place where ioredis reports that no host was found. A client of one server reports it as this event.
      clusterRetryStrategy: (times, reason) => {
        if (reason !== undefined) cluster.emit("error", reason);
        return soon(times);
      },
      redisOptions,
    },
  );
  cluster.on("+node", keepIfAnswered);
  return cluster;
}

type Node = ReturnType<typeof parseNode>;
type Options = ReturnType<typeof optionsOf>;

/** For an invalid database number, ioredis ends the process with a rejection that cannot be handled. */
function parseNode(url: string) {
  try {
    const { hostname, port, pathname, username, password } = new URL(url);
    if (/^(\/\d*)?$/.test(pathname))
      return {
        host: hostname.replace(/^\[|\]$/g, ""),
        port: Number(port || 6379),
        path: pathname,
        username: decodeURIComponent(username),
        password: decodeURIComponent(password),
      };
  } catch {
    // Not as a cause: the text that could not be decoded may be a password.
  }
  throw new TypeError(FORMS);
}

/** Half to all of a delay, in ms, that doubles up to one second: the processes of a fleet do not reconnect at the same time. */
function soon(times: number): number {
  const longest = Math.min(1_000, 25 * 2 ** Math.min(times, 10));
  return Math.round(longest * (0.5 + Math.random() / 2));
}
