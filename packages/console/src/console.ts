import { type Latchkey, LatchkeyError } from "@latchkey/core";
import { createHandler, type HostCaller } from "@latchkey/http";
import {
  askHost,
  isFromOwnPage,
  jsonResponse,
  pageWithoutSlash,
  refusalOf,
  refuse,
  refuseMethod,
  servePage,
} from "@latchkey/http/pages";
import { byRootKey, type SignIn } from "./operators.js";
import { type ConsoleOptions, checkOptions } from "./options.js";
import { isTaskOf, operatorTasks } from "./tasks.js";

/** A console as a function of web standard requests. It never rejects. */
export type FetchConsole = (request: Request) => Promise<Response>;

/** Signing in and out by a link, for a standalone console. */
export interface LinkSignIn {
  /** The response to the exchange of the link's token; null if the token is wrong or was used before. */
  readonly exchange: (request: Request) => Response | null;
  readonly signOut: (request: Request) => Response;
}

/** Without this header, only the page itself is answered. `Origin` and `Sec-Fetch-Site` are checked as well. */
const OWN_HEADER = "x-latchkey-console";

/** The words of the page before its script runs. */
export const WORDS = { title: "latchkey console", noScript: "The console needs JavaScript." };

/**
 * Creates a console: the page, its operator's session, and the operations of @latchkey/http below `v1/`.
 *
 * @throws TypeError naming the wrong option.
 */
export function makeConsole(
  latchkey: Latchkey,
  options: ConsoleOptions,
  link: LinkSignIn | null = null,
): FetchConsole {
  checkOptions(options);
  const { basePath = "", hosts = null, rootKeys = false, authenticate, onError } = options;
  const handler = createHandler({
    latchkey,
    basePath,
    v2: false,
    docs: false,
    rootKeys,
    ...(authenticate !== undefined && { authenticate }),
    ...(onError !== undefined && { onError }),
  });
  const recognise = authenticate ?? byRootKey(latchkey);
  const signIn: SignIn =
    link === null ? (authenticate === undefined ? "root-key" : "host") : "link";
  const tasks = operatorTasks(latchkey, options);
  const sendFile = servePage({
    module: import.meta.url,
    ...WORDS,
  });

  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (hosts !== null && !isOwnHost(request, hosts))
      return refuse(421, "FORBIDDEN", "this console is not served under that host name");
    if (pathname === basePath) return pageWithoutSlash(WORDS);
    if (!pathname.startsWith(`${basePath}/`)) return refuse(404, "NOT_FOUND", "no such path");
    const name = pathname.slice(basePath.length + 1);
    const task = tasks.get(name);
    const isAsked = name === "session" || name.startsWith("v1/") || task !== undefined;
    if (!isAsked)
      return (await sendFile(request, name)) ?? refuse(404, "NOT_FOUND", "no such path");
    if (!isFromOwnPage(request, OWN_HEADER))
      return refuse(403, "FORBIDDEN", "only the page of the console may ask this");
    if (name === "session") return session(request);
    if (task === undefined) return handler(request);
    if (request.method !== task.method) return refuseMethod(task.method);
    const operator = await operatorOf(request);
    if (operator === null) return unknownOperator();
    if (!isTaskOf(operator, task)) return refuse(403, "INSUFFICIENT_PERMISSIONS", "this needs *");
    return jsonResponse(await task.run(request));
  }

  /**
   * Who the operator is, and what they can do; if nobody is signed in, only how to sign in. That is not an error, because
   * browsers log errors to their console. POST exchanges the token of a link, DELETE signs out.
   */
  async function session(request: Request): Promise<Response> {
    if (link !== null && request.method === "POST")
      return link.exchange(request) ?? unknownOperator();
    if (link !== null && request.method === "DELETE") return link.signOut(request);
    if (request.method !== "GET") return refuseMethod(link === null ? "GET" : "GET, POST, DELETE");
    const operator = await operatorOf(request);
    if (operator === null) return jsonResponse({ signIn });
    const { workspaceId, permissions, actor } = operator;
    return jsonResponse({
      signIn,
      workspaceId,
      permissions,
      ...(actor !== undefined && { actor }),
      rootKeys,
      tasks: [...tasks].filter(([, task]) => isTaskOf(operator, task)).map(([name]) => name),
      now: latchkey.now(),
    });
  }

  async function operatorOf(request: Request): Promise<HostCaller | null> {
    const operator = await askHost(recognise, request);
    if (operator === null) return null;
    const { workspaceId } = operator;
    const own = workspaceId === latchkey.workspaceId ? latchkey : latchkey.workspace(workspaceId);
    if (await own.isWorkspaceEnabled()) return operator;
    throw new LatchkeyError("FORBIDDEN", "workspace is disabled");
  }

  const unknownOperator = () =>
    jsonResponse({ error: { code: "UNAUTHORIZED", message: "nobody is signed in" }, signIn }, 401);

  return async (request) => {
    try {
      return await respond(request);
    } catch (error) {
      return refusalOf(error, onError && ((failure) => onError(failure, "console")));
    }
  };
}

function isOwnHost(request: Request, hosts: readonly string[]): boolean {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  const origin = request.headers.get("origin");
  return hosts.includes(host) && (origin === null || origin === `http://${host}`);
}
