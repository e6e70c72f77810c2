import { createHash, randomBytes } from "node:crypto";
import type { Latchkey } from "@latchkey/core";
import { jsonResponse, toNode } from "@latchkey/http/pages";
import { type LinkSignIn, makeConsole } from "./console.js";
import type { NodeConsole } from "./node.js";
import { bearerOf } from "./operators.js";
import type { ConsoleOptions } from "./options.js";

/** Options of a standalone console. */
export interface LinkConsoleOptions extends Pick<ConsoleOptions, "examine" | "onError"> {
  /** Port of the loopback address on which it listens. */
  readonly port: number;
  /** Actor in the audit log. Default: `console`. */
  readonly actor?: string;
}

/** A standalone console. */
export interface LinkConsole {
  readonly listener: NodeConsole;
  /** URL to open in a browser. Its token signs in once. */
  readonly link: string;
}

/** How long a sign-in lasts. */
const SIGNED_IN_MS = 12 * 3_600_000;

const COOKIE = "latchkey_console";

/**
 * Creates a standalone console on a loopback address. Anyone with the link can do everything in the latchkey's workspace, including root
 * keys.
 *
 * The token of the link is in the fragment, which browsers do not send, and is valid for one sign-in, which sets a cookie that scripts
 * cannot read and other sites cannot use. Requests for any other `Host`, or from any other `Origin`, are refused.
 *
 * @see packages/console/decisions/0002-signing-in.md
 */
export function createLinkConsole(latchkey: Latchkey, options: LinkConsoleOptions): LinkConsole {
  const { port, actor = "console", examine, onError } = options;
  const token = randomBytes(32).toString("base64url");
  const cookie = `${COOKIE}_${port}`;
  let awaited: string | null = hashOf(token);
  const signedIn = new Map<string, number>();

  const idOf = (request: Request): string | null => {
    const cookies = request.headers.get("cookie") ?? "";
    const found = cookies.split("; ").find((pair) => pair.startsWith(`${cookie}=`));
    return found === undefined ? null : hashOf(found.slice(cookie.length + 1));
  };
  const link: LinkSignIn = {
    exchange: (request) => {
      // Compared as hashes, so that the time of the comparison reveals nothing about the token.
      if (awaited === null || hashOf(bearerOf(request) ?? "") !== awaited) return null;
      awaited = null;
      const secret = randomBytes(32).toString("base64url");
      signedIn.set(hashOf(secret), latchkey.now() + SIGNED_IN_MS);
      return withCookie(`${cookie}=${secret}`);
    },
    signOut: (request) => {
      const id = idOf(request);
      if (id !== null) signedIn.delete(id);
      return withCookie(`${cookie}=; Max-Age=0`);
    },
  };
  const answer = makeConsole(
    latchkey,
    {
      // Browsers omit port 80.
      hosts: ["127.0.0.1", "localhost", "[::1]"].map((name) =>
        port === 80 ? name : `${name}:${port}`,
      ),
      rootKeys: true,
      authenticate: (request) => {
        const endsAt = signedIn.get(idOf(request) ?? "") ?? 0;
        if (endsAt <= latchkey.now()) return null;
        return { workspaceId: latchkey.workspaceId, permissions: ["*"], actor };
      },
      ...(examine !== undefined && { examine }),
      ...(onError !== undefined && { onError }),
    },
    link,
  );
  return {
    listener: toNode(answer),
    link: `http://127.0.0.1:${port}/#sign-in=${token}`,
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function withCookie(pair: string): Response {
  return jsonResponse({}, 200, { "set-cookie": `${pair}; Path=/; HttpOnly; SameSite=Strict` });
}
