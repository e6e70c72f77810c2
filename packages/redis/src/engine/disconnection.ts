import { connectionProblem } from "@latchkey/core";
import { firstWord, redisRefusal } from "./errors.js";

const BROKEN =
  "the connection was lost; if it always is, its port may require TLS (rediss://) or a client certificate";
const NO_TLS = "its port does not speak TLS: use redis://";
const UNTRUSTED =
  "its certificate is not trusted: name the file of the authority that signed it in NODE_EXTRA_CA_CERTS, or give it to a client of your own";
const WANTS_CERTIFICATE =
  "it requires a client certificate: give key and cert to a client of your own";
const NO_SOCKET = "its socket does not exist, or cannot be opened";

/** What to check if a connection gets no answer. A Redis without TLS does not answer a TLS greeting. */
export const SILENT =
  "check host, port and firewalls, and that its port speaks TLS if the URL says rediss://";

/** What other error codes of Node.js say about a failed connection to Redis. */
const CODES: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^ENOTFOUND$/, "its host was not found: check the name in the URL or the client"],
  [/^ETIMEDOUT$/, `its address did not answer in time: ${SILENT}`],
  [/^(ECONNRESET|EPIPE)$/, BROKEN],
  [/^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/, NO_TLS],
  [/^(CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE|INVALID)_[A-Z_]+$/, UNTRUSTED],
  [/^ERR_SSL_\w*CERTIFICATE_REQUIRED$/, WANTS_CERTIFICATE],
  [/^ERR_SSL_/, "the TLS handshake failed"],
  [/^(ENOENT|EACCES)$/, NO_SOCKET],
];

/** The reason for a connection that was in use. */
export const LOST = "the connection was lost";

/** The reason for a connection that was opened and closed without an error or a reply. */
export const CLOSED_UNANSWERED =
  "the server at its address closed the connection without an answer: its port may require TLS (rediss://)";

/** The fields of an ioredis error that are read here. Not every error is an `Error` here: Jest gives each test file classes of its own. */
interface ConnectionError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly command?: { readonly name?: unknown };
  readonly lastNodeError?: unknown;
}

/**
 * Why a client is not connected, in our own words; null if the error does not tell. The text of the error may contain hosts and arguments
 * of commands, and is never passed on.
 *
 * @param error - The argument of the client's `error` event.
 */
export function reasonOf(error: unknown): string | null {
  const { name, message, code, command, lastNodeError }: ConnectionError = Object(error);
  if (name === "ClusterAllFailedError")
    return firstWord(lastNodeError) === ""
      ? "no node of the cluster accepted a connection"
      : reasonOf(lastNodeError);
  if (name === "ReplyError") {
    const refusal = redisRefusal(firstWord(error));
    if (refusal !== null) return refusal;
    // The connection stays open: see `databaseProblem`.
    if (command?.name === "select") return null;
    return command?.name === "cluster"
      ? "Redis is not a cluster: use redis:// instead of redis+cluster://"
      : "Redis refused the connection: it may have reached its maxclients";
  }
  if (name === "ParserError")
    return "the server at its address does not speak the Redis protocol, or uses TLS";
  if (/^Socket timeout\b/.test(String(message))) return "it stopped answering";
  return typeof code === "string" ? connectionProblem(code, CODES) : null;
}
