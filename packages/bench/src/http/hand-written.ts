import { hash as digest, randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Verify } from "../sides/side.js";

const PATH = "/v1/keys.verifyKey";
const MAX_BODY_BYTES = 65_536;

/** A caller's token, as a hand-written server stores it. */
interface Token {
  readonly enabled: boolean;
  readonly expires: number | null;
  readonly permissions: ReadonlySet<string>;
}

/**
 * The least code that serves keys.verifyKey on node:http: it checks path and method, the token and its permission, and size and form of the
 * body, verifies the key, and answers the same fields with a request id.
 */
export function handWrittenListener(verify: Verify, rootToken: string): RequestListener {
  const token = {
    enabled: true,
    expires: null,
    permissions: new Set(["api.*.verify_key"]),
  };
  const tokens = new Map<string, Token>([[digest("sha256", rootToken, "base64url"), token]]);

  function isAllowed({ headers }: IncomingMessage): boolean {
    const { authorization = "" } = headers;
    if (!authorization.startsWith("Bearer ")) return false;
    const found = tokens.get(digest("sha256", authorization.slice(7), "base64url"));
    if (found === undefined || !found.enabled) return false;
    if (found.expires !== null && Date.now() >= found.expires) return false;
    return found.permissions.has("api.*.verify_key");
  }

  return (incoming, outgoing) => {
    if (incoming.url !== PATH) return refuse(outgoing, 404);
    if (incoming.method !== "POST") return refuse(outgoing, 405);
    if (!isAllowed(incoming)) return refuse(outgoing, 401);
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    incoming.on("end", async () => {
      if (size > MAX_BODY_BYTES) return refuse(outgoing, 413);
      const secret = secretIn(chunks);
      if (secret === null) return refuse(outgoing, 400);
      const requestId = `req_${randomUUID()}`;
      const verdict = await verify(secret, requestId);
      respond(outgoing, 200, requestId, { requestId, ...(verdict as object) });
    });
  };
}

/** The key in a well-formed body that asks for one permission; null for any other body. */
function secretIn(chunks: readonly Buffer[]): string | null {
  try {
    const [only] = chunks;
    const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
    const body = JSON.parse(bytes.toString("utf8"));
    if (typeof body?.key !== "string") return null;
    if (body.key.length < 1 || body.key.length > 512) return null;
    return typeof body.authorization?.permissions === "string" ? body.key : null;
  } catch {
    return null;
  }
}

function refuse(outgoing: ServerResponse, status: number): void {
  const requestId = `req_${randomUUID()}`;
  respond(outgoing, status, requestId, { error: { code: String(status), requestId } });
}

function respond(outgoing: ServerResponse, status: number, requestId: string, body: object): void {
  const text = JSON.stringify(body);
  outgoing.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    "content-length": Buffer.byteLength(text),
  });
  outgoing.end(text);
}
