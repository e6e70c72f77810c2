import { refusalOf } from "./errors.js";

const REFUSED_CERTIFICATE =
  "its certificate was not accepted: check the host name, or give the client the authority that signed it";

/** What the code of an error of Node.js says about a connection that did not come about. */
const CODES: ReadonlyMap<string, string> = new Map([
  ["ENOTFOUND", "its host was not found: check the name in the URL or the client"],
  ["EAI_AGAIN", "its host could not be looked up: the name server did not answer"],
  ["ECONNREFUSED", "nothing listens at its address: check host and port, and that it runs"],
  ["ETIMEDOUT", "its address did not answer in time: check host, port and firewalls"],
  ["EHOSTUNREACH", "there is no way to its address: check host and network"],
  ["ENETUNREACH", "there is no way to its address: check host and network"],
  ["ECONNRESET", "the connection broke off; if it always does, its port may want TLS (rediss://)"],
  ["EPIPE", "the connection broke off; if it always does, its port may want TLS (rediss://)"],
  ["EPROTO", "its port does not speak TLS: use redis:// without it"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "its port does not speak TLS: use redis:// without it"],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "its port does not speak TLS: use redis:// without it"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", REFUSED_CERTIFICATE],
  ["SELF_SIGNED_CERT_IN_CHAIN", REFUSED_CERTIFICATE],
  ["UNABLE_TO_GET_ISSUER_CERT", REFUSED_CERTIFICATE],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", REFUSED_CERTIFICATE],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", REFUSED_CERTIFICATE],
  ["CERT_HAS_EXPIRED", REFUSED_CERTIFICATE],
  ["CERT_NOT_YET_VALID", REFUSED_CERTIFICATE],
  ["ERR_TLS_CERT_ALTNAME_INVALID", REFUSED_CERTIFICATE],
]);

/** For a connection that came about and was closed with no error and no answer. */
export const CLOSED_UNANSWERED =
  "what listens at its address closed the connection without an answer: its port may want TLS (rediss://)";

/** The parts of an error of ioredis that are looked at. */
interface ConnectionError extends Error {
  readonly code?: unknown;
  readonly command?: { readonly name?: unknown };
  readonly lastNodeError?: unknown;
}

/**
 * Why a client is not connected, in words of our own; null where the error does not tell. Its text, which may hold hosts
 * and arguments of commands, is never passed on.
 *
 * @param error - What came with the event `error` of the client.
 */
export function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { name, code, command, lastNodeError }: ConnectionError = error;
  if (name === "ClusterAllFailedError") {
    const isReply = lastNodeError instanceof Error && lastNodeError.name === "ReplyError";
    return isReply ? reasonOf(lastNodeError) : "no node of the cluster took a connection";
  }
  if (name === "ReplyError") {
    const refusal = refusalOf(error);
    if (refusal !== null) return refusal;
    // The connection stays, see `databaseProblem`.
    if (command?.name === "select") return null;
    return command?.name === "cluster"
      ? "Redis says that it is no cluster: use redis:// instead of redis+cluster://"
      : "Redis refused the connection: it may have reached its maxclients";
  }
  if (name === "ParserError")
    return "what answers does not speak the protocol of Redis, or uses TLS";
  if (/^Socket timeout\b/.test(error.message)) return "it stopped answering";
  const sentence = typeof code === "string" ? CODES.get(code) : undefined;
  return sentence === undefined ? null : `${sentence} (${code})`;
}
