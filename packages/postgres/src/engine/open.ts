import { hash } from "node:crypto";
import { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { Settings } from "../options.js";
import {
  type Ask,
  type Database,
  type PgliteDatabase,
  type PostgresPool,
  poolDatabase,
  poolOf,
} from "./database.js";
import { loadPostgres } from "./load-driver.js";
import { assertUpToDate, bringUpToDate } from "./migrations/index.js";

/** What a store can be opened on. */
export type Source = string | PostgresPool | PgliteDatabase;

const FORMS =
  '"source" must be postgres://user@host:5432/database, a Pool of pg that is open, or a PGlite';

/** @throws TypeError for an unknown source; a URL, which may contain a password, is not repeated. */
export function openDatabase(source: Source, settings: Settings): Database {
  const { migrate, preparedStatements, schema } = settings;
  const nameOf = preparedStatements ? statementName : null;
  const prepare = migrate ? bringUpToDate : assertUpToDate;
  const examine = (ask: Ask, deadline: number) => prepare(ask, schema, deadline);
  if (typeof source === "string")
    return poolDatabase(openUrl(source, settings), true, nameOf, examine);
  if (typeof source !== "object" || source === null) throw new TypeError(FORMS);
  if ("waitReady" in source) return poolDatabase(poolOf(source), false, null, examine);
  // A single client would run two calls in one transaction if its owner has one open.
  if (!("connect" in source && "totalCount" in source)) throw new TypeError(FORMS);
  return poolDatabase(source, false, nameOf, examine);
}

function openUrl(url: string, settings: Settings): PostgresPool {
  // A URL without a host means a socket: `postgres://user@/database?host=/folder`. `URL` parses it only without a user.
  const named = url.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, "$1localhost");
  if (!/^postgres(ql)?:\/\/\S*$/.test(url) || !URL.canParse(named)) throw new TypeError(FORMS);
  const { ssl, maxConnections, chargeTimeoutMs, timeoutMs } = settings;
  const { Pool } = loadPostgres();
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    application_name: "latchkey",
    keepAlive: true,
    allowExitOnIdle: true,
    // A connection attempt without a reply for this long is abandoned: all its callers have given up. The pool's own timer for that would
    // make each call a sixth slower. It does not keep the process alive; a waiting call does.
    stream: () => {
      const socket = new Socket().unref();
      const silentMs = Math.max(chargeTimeoutMs, timeoutMs);
      // Not its second parameter, which would be called only once.
      return socket.setTimeout(silentMs).on("timeout", () => {
        const { bytesRead } = socket;
        // If this process stood still, an answer may have come meanwhile: it is read before this runs.
        setImmediate(() => {
          if (socket.bytesRead === bytesRead) socket.destroy();
        });
      });
    },
    ...(ssl !== false && { ssl }),
  });
  // Without a listener, losing an idle connection would end the process. The next call gets another one.
  pool.on("error", () => undefined);
  return pool;
}

/** Derived from the statement, so that it has the same name on all connections. */
function statementName(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `latchkey_${hash("sha256", sql, "base64url").slice(0, 22)}`;
    names.set(sql, name);
  }
  return name;
}

const names = new Map<string, string>();
