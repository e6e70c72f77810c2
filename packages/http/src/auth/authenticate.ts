import { type Latchkey, LatchkeyError } from "@latchkey/core";
import type { Caller } from "../operations/operation.js";
import type { HttpRequest } from "../request/http-request.js";
import { createBinder } from "./bound-latchkeys.js";

/** Whom a host says a request comes from: what it may do, in which workspace. */
export interface HostCaller {
  readonly workspaceId: string;
  /** Permissions as root keys hold them: `*`, `api.*.create_key`, `api.<apiId>.read_key` … Empty means nothing. */
  readonly permissions: readonly string[];
  /** Who it is, for the audit log and events: 1 to 256 characters, nobody in particular unless given. Never a secret. */
  readonly actor?: string;
}

/** A host's own way to tell who asks; null for nobody it knows. It must not read the body. */
export type Authenticate = (request: Request) => Promise<HostCaller | null> | HostCaller | null;

/** Finds out who asks, or throws. */
export type Authenticator = (asked: HttpRequest) => Promise<Caller>;

/** RFC 6750 section 2.1: one token of these characters, so that a joined duplicate of the header is none. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Recognises root keys: `Authorization: Bearer <root key>`. What is changed is told to be done by the root key, by its id. */
export function byRootKey(latchkey: Latchkey): Authenticator {
  const bind = createBinder(latchkey);
  return async (asked) => {
    const token = BEARER.exec(asked.header("authorization") ?? "")?.[1];
    if (token === undefined) throw unauthorized();
    const outcome = await latchkey.authenticateRootKey(token);
    switch (outcome.kind) {
      case "authenticated": {
        const { workspaceId, rootKeyId, permissions } = outcome;
        return { latchkey: bind(workspaceId, rootKeyId), permissions };
      }
      case "workspace-disabled":
        throw workspaceDisabled();
      case "refused":
        throw unauthorized();
      default:
        return outcome satisfies never;
    }
  };
}

/**
 * Takes the host's word for who asks.
 *
 * @throws TypeError from the authenticator when the host answers anything but null or a caller. A permission list
 * that is no list (`"*"`, say, of which `includes` would be true) must not become a right.
 */
export function byHost(latchkey: Latchkey, authenticate: Authenticate): Authenticator {
  const bind = createBinder(latchkey);
  return async ({ request }) => {
    if (request === null) throw new TypeError("a host can only tell who asks from a Request");
    const caller: unknown = await authenticate(request);
    if (caller === null) throw unauthorized();
    if (!isHostCaller(caller))
      throw new TypeError(
        '"authenticate" must answer null or { workspaceId, permissions, actor? }',
      );
    const { workspaceId, permissions, actor = null } = caller;
    const bound = bind(workspaceId, actor);
    if (!(await bound.isWorkspaceEnabled())) throw workspaceDisabled();
    return { latchkey: bound, permissions };
  };
}

function isHostCaller(value: unknown): value is HostCaller {
  if (typeof value !== "object" || value === null) return false;
  const { workspaceId, permissions, actor } = value as Partial<HostCaller>;
  const isNamed = actor === undefined || typeof actor === "string";
  return typeof workspaceId === "string" && isListOfTexts(permissions) && isNamed;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((member) => typeof member === "string");
}

/** The same words for every cause: nothing can be told apart. */
function unauthorized(): LatchkeyError {
  return new LatchkeyError("UNAUTHORIZED", "the request carries no valid credentials");
}

function workspaceDisabled(): LatchkeyError {
  return new LatchkeyError("FORBIDDEN", "workspace is disabled");
}
