import { isRootAllowed, noInput, parseInput } from "@latchkey/core";
import { type Authenticator, byHost, byRootKey } from "../auth/authenticate.js";
import { authorize } from "../auth/authorize.js";
import { documentPage } from "../docs-page/document-page.js";
import type { Page } from "../docs-page/page.js";
import { REFERENCE_PAGES } from "../docs-page/reference-page.js";
import { VERIFY_KEY } from "../operations/keys.js";
import type { Caller, Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/table.js";
import type { Settings } from "../options.js";
import { addHeaderFields, type Given } from "../request/header-fields.js";
import { type HttpRequest, requireJson } from "../request/http-request.js";
import { parseJsonArray, parseJsonObject } from "../request/json.js";
import { nameAsSent } from "../request/name-as-sent.js";
import { type Query, readQuery } from "../request/query.js";
import { createRequestIds } from "../request/request-id.js";
import {
  errorResponse,
  type HttpResponse,
  pageResponse,
  successResponse,
  toPublicError,
} from "./http-response.js";
import { createRoutes } from "./routes.js";

/** Everything between a request and its answer. No method throws or rejects. */
export interface Service {
  answer(asked: HttpRequest): Promise<HttpResponse>;
  /** The answer to a request that failed before it could be looked at. */
  refuse(error: unknown): HttpResponse;
  /** Whether `answer` has to be given a Request. */
  readonly needsWebRequest: boolean;
}

/** Puts the parts together in the order in which a request is judged. */
export function createService(settings: Settings): Service {
  const { latchkey, docsBaseUrl, maxBodyBytes, onError } = settings;
  const newRequestId = createRequestIds();
  const pages = settings.docs ? [documentPage(settings.basePath), ...REFERENCE_PAGES] : [];
  const findRoute = createRoutes<Operation | Page>([...OPERATIONS, ...pages], settings.basePath);
  const everyone: Caller = { latchkey, permissions: ["*"] };
  const anyone: Authenticator = async () => everyone;
  const known =
    settings.authenticate === null ? byRootKey(latchkey) : byHost(latchkey, settings.authenticate);

  function authenticatorOf({ isPublic, name }: Operation): Authenticator {
    return isPublic || (name === VERIFY_KEY && settings.publicVerify) ? anyone : known;
  }

  async function perform(asked: HttpRequest, requestId: string): Promise<HttpResponse> {
    const { target, query } = findRoute(asked);
    if ("content" in target) {
      refuseParameters(query);
      return pageResponse(await target.content(), requestId);
    }
    const operation = target;
    const caller = await authenticatorOf(operation)(asked);
    const sent =
      operation.method === "GET"
        ? readQuery(query, operation.query)
        : await readBodyFields(operation, asked, query);
    const given = addHeaderFields(asked, operation.headers, sent);
    try {
      return successResponse(await performOn(operation, caller, given, requestId), requestId);
    } catch (error) {
      throw nameAsSent(error, given);
    }
  }

  async function performOn(
    operation: Operation,
    caller: Caller,
    { fields, issues }: Given,
    requestId: string,
  ): Promise<unknown> {
    if (issues.length > 0 || !hasSufficient(operation, caller)) {
      const further = operation.extraIssues?.(fields, latchkey.now()) ?? [];
      const input = parseInput(operation.input, fields, () => [...issues, ...further]);
      await authorize(caller, operation.requiredPermissions(input));
    }
    return operation.run(caller, fields, requestId);
  }

  async function readBodyFields(
    { acceptsList }: Operation,
    asked: HttpRequest,
    query: string,
  ): Promise<Query> {
    const bytes = await asked.readBody(maxBodyBytes * (acceptsList === true ? LIST_FACTOR : 1));
    requireJson(asked);
    const strays = query === "" ? [] : Object.keys(readQuery(query).fields);
    return {
      fields: acceptsList === true ? asFields(parseJsonArray(bytes)) : parseJsonObject(bytes),
      issues: strays.map((path) => ({ path, message: "is not a known query parameter" })),
      unreadable: [],
    };
  }

  function refuse(error: unknown, requestId: string): HttpResponse {
    const told = toPublicError(error);
    if (told.code === "INTERNAL_SERVER_ERROR" || told.code === "STORE_UNAVAILABLE") {
      try {
        onError(error, requestId);
      } catch {
        // A log that fails must not change what the client is told.
      }
    }
    return errorResponse(told, docsBaseUrl, requestId);
  }

  return {
    async answer(asked) {
      const requestId = newRequestId();
      try {
        return await perform(asked, requestId);
      } catch (error) {
        return refuse(error, requestId);
      }
    },
    needsWebRequest: settings.authenticate !== null,
    refuse: (error) => refuse(error, newRequestId()),
  };
}

/** Of a page, which takes none: in the words of an operation that takes nothing. */
function refuseParameters(query: string): void {
  if (query === "") return;
  const given = { ...readQuery(query), headers: new Map() };
  try {
    parseInput(noInput, given.fields, () => given.issues);
  } catch (error) {
    throw nameAsSent(error, given);
  }
}

/** A list goes the way of an object: its schema is asked for a list, and no header stands for a field of it. */
function asFields(list: readonly unknown[]): Query["fields"] {
  return list as unknown as Query["fields"];
}

/** How many times as long as another body a list may be. */
const LIST_FACTOR = 16;

/** Whether the caller may do this whatever the input, which the operation then checks by itself, once. */
function hasSufficient({ sufficient }: Operation, { permissions }: Caller): boolean {
  return sufficient !== undefined && isRootAllowed(permissions, sufficient);
}
