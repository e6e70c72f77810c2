import { type Latchkey, LatchkeyError } from "@latchkey/core";
import type { HttpRequest } from "../request/http-request.js";
import { type Caller, createCallers } from "./callers.js";

/** A caller that the host has authenticated: its workspace, and what it may do there. */
export interface HostCaller {
  readonly workspaceId: string;
  /** Permissions in the form of root keys: `*`, `api.*.create_key`, `api.<apiId>.read_key` … None if empty. */
  readonly permissions: readonly string[];
  /** Name of the caller in the audit log and events: 1 to 256 characters, never a secret. If omitted, they name nobody. */
  readonly actor?: string;
}

/** A host's own authentication; null for an unknown caller. It must not read the body. If a body arrives slowly, it is called again. */
export type Authenticate = (request: Request) => Promise<HostCaller | null> | HostCaller | null;

/**
 * Finds the caller of a request, or throws.
 *
 * @param mayBeDisabled - Whether the operation works in a disabled workspace. Its root keys still authorise nothing.
 */
export type Authenticator = (request: HttpRequest, mayBeDisabled?: boolean) => Promise<Caller>;

/** RFC 6750 section 2.1: one token of these characters, so that a header that was sent twice and joined does not match. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Recognises root keys in `Authorization: Bearer <root key>`. The audit log names the root key by its id as the actor. */
export function byRootKey(latchkey: Latchkey): Authenticator {
  const callerOf = createCallers(latchkey);
  return async (request) => {
    const token = BEARER.exec(request.header("authorization") ?? "")?.[1];
    if (token === undefined) throw unauthorized(ROOT_KEY_WANTED);
    const outcome = await latchkey.authenticateRootKey(token);
    switch (outcome.kind) {
      case "authenticated": {
        const { workspaceId, rootKeyId, permissions } = outcome;
        return callerOf(workspaceId, rootKeyId, permissions, rootKeyId);
      }
      case "workspace-disabled":
        throw workspaceDisabled();
      case "refused":
        throw unauthorized(ROOT_KEY_WANTED);
      default:
        return outcome satisfies never;
    }
  };
}

/**
 * Trusts the host's own authentication.
 *
 * @throws TypeError from the authenticator if the host returns anything but null or a caller.
 */
export function byHost(latchkey: Latchkey, authenticate: Authenticate): Authenticator {
  const callerOf = createCallers(latchkey);
  return async ({ webRequest }, mayBeDisabled) => {
    if (webRequest === null) throw new TypeError("a host authenticates by a Request only");
    const recognised = await askHost(authenticate, webRequest);
    if (recognised === null) throw unauthorized("the request carries no valid credentials");
    const { workspaceId, permissions, actor = null } = recognised;
    const caller = callerOf(workspaceId, actor, permissions);
    if (mayBeDisabled !== true && !(await caller.latchkey.isWorkspaceEnabled()))
      throw workspaceDisabled();
    return caller;
  };
}

/**
 * Calls the host's own authentication.
 *
 * @throws TypeError if it returns anything but null or a caller. Permissions that are not an array, such as `"*"`, whose `includes` would be
 * true, must not grant anything.
 */
export async function askHost(
  authenticate: Authenticate,
  request: Request,
): Promise<HostCaller | null> {
  const recognised: unknown = await authenticate(request);
  if (recognised === null || isHostCaller(recognised)) return recognised;
  throw new TypeError('"authenticate" must return null or { workspaceId, permissions, actor? }');
}

function isHostCaller(value: unknown): value is HostCaller {
  if (typeof value !== "object" || value === null) return false;
  const { workspaceId, permissions, actor } = value as Partial<HostCaller>;
  const isValidActor = actor === undefined || typeof actor === "string";
  return typeof workspaceId === "string" && isStringArray(permissions) && isValidActor;
}

function isStringArray(value: unknown): boolean {
  return Array.isArray(value) && value.every((member) => typeof member === "string");
}

/** The same message for every cause, so that causes cannot be told apart. */
const ROOT_KEY_WANTED =
  "the request carries no valid root key, which is sent as Authorization: Bearer <root key>";

function unauthorized(message: string): LatchkeyError {
  return new LatchkeyError("UNAUTHORIZED", message);
}

function workspaceDisabled(): LatchkeyError {
  return new LatchkeyError("FORBIDDEN", "workspace is disabled", { reason: "workspace-disabled" });
}
