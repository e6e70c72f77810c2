import { noInput, parseInput } from "@latchkey/core";
import { type Authenticator, byHost, byRootKey } from "../auth/authenticate.js";
import { authorize } from "../auth/authorize.js";
import { type Caller, createCallers } from "../auth/callers.js";
import { documentPage } from "../docs-page/document-page.js";
import { ERROR_PAGES } from "../docs-page/error-pages.js";
import type { Page } from "../docs-page/page.js";
import { REFERENCE_PAGES } from "../docs-page/reference-page.js";
import { VERIFY_KEY } from "../operations/keys.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/table.js";
import type { Settings } from "../options.js";
import { addHeaderFields, type ReceivedInput } from "../request/header-fields.js";
import { type HttpRequest, requireJson } from "../request/http-request.js";
import { parseJsonArray, parseJsonObject } from "../request/json.js";
import { nameAsSent } from "../request/name-as-sent.js";
import { type ReceivedFields, readQuery } from "../request/query.js";
import { createRequestIds } from "../request/request-id.js";
import {
  errorResponse,
  type HttpResponse,
  pageResponse,
  successResponse,
  toPublicError,
} from "./http-response.js";
import { createRouter } from "./router.js";

/** Everything between a request and its response. No method throws or rejects. */
export interface Service {
  respond(request: HttpRequest): Promise<HttpResponse>;
  /** The response to a request that could not be read at all. */
  respondToError(error: unknown): HttpResponse;
  /** Whether the requests must have a `webRequest`. */
  readonly needsWebRequest: boolean;
}

/** Puts the parts together, in the order in which a request is checked. */
export function createService(settings: Settings): Service {
  const { latchkey, docsBaseUrl, maxBodyBytes, onError } = settings;
  const newRequestId = createRequestIds();
  const pages = settings.docs
    ? [documentPage(settings.basePath), ...REFERENCE_PAGES, ...ERROR_PAGES]
    : [];
  const findRoute = createRouter<Operation | Page>([...OPERATIONS, ...pages], settings.basePath);
  const everyone = createCallers(latchkey)(latchkey.workspaceId, null, ["*"]);
  const acceptEveryone: Authenticator = async () => everyone;
  const authenticate =
    settings.authenticate === null ? byRootKey(latchkey) : byHost(latchkey, settings.authenticate);

  function authenticatorOf({ isPublic, name }: Operation): Authenticator {
    const isOpen = isPublic || (name === VERIFY_KEY && settings.publicVerify);
    return isOpen ? acceptEveryone : authenticate;
  }

  async function dispatch(request: HttpRequest, requestId: string): Promise<HttpResponse> {
    const { target, query } = findRoute(request);
    if ("content" in target) {
      refuseParameters(query);
      return pageResponse(await target.content(), requestId);
    }
    const operation = target;
    const caller = await authenticatorOf(operation)(request);
    const received =
      operation.method === "GET"
        ? readQuery(query, operation.queryTypes)
        : await readBody(operation, request, query);
    const input = addHeaderFields(request, operation.headerFields, received);
    try {
      const isAdmitted =
        input.issues.length === 0 && operation.isKnownAllowed?.(caller, input.fields) === true;
      if (!isAdmitted) await admit(operation, caller, input);
      return successResponse(await operation.run(caller, input.fields, requestId), requestId);
    } catch (error) {
      throw nameAsSent(error, input);
    }
  }

  /** Checks fields and permission, in this order. */
  async function admit(
    operation: Operation,
    caller: Caller,
    { fields, issues }: ReceivedInput,
  ): Promise<void> {
    const extra = operation.extraIssues?.(fields, latchkey.now()) ?? [];
    const input = parseInput(operation.input, fields, () => [...issues, ...extra]);
    await authorize(caller, operation.requiredPermissions(input));
  }

  async function readBody(
    { acceptsList }: Operation,
    request: HttpRequest,
    query: string,
  ): Promise<ReceivedFields> {
    const bytes = await request.readBody(maxBodyBytes * (acceptsList === true ? LIST_FACTOR : 1));
    requireJson(request);
    const parameters = query === "" ? [] : Object.keys(readQuery(query).fields);
    return {
      fields: acceptsList === true ? asFields(parseJsonArray(bytes)) : parseJsonObject(bytes),
      issues: parameters.map((path) => ({ path, message: "is not a known query parameter" })),
      unreadable: [],
    };
  }

  function respondToError(error: unknown, requestId: string): HttpResponse {
    const publicError = toPublicError(error);
    const { code } = publicError;
    if (code === "INTERNAL_SERVER_ERROR" || code === "STORE_UNAVAILABLE") {
      try {
        onError(error, requestId);
      } catch {
        // A log that fails must not change the response.
      }
    }
    return errorResponse(publicError, docsBaseUrl, requestId);
  }

  return {
    async respond(request) {
      const requestId = newRequestId();
      try {
        return await dispatch(request, requestId);
      } catch (error) {
        return respondToError(error, requestId);
      }
    },
    needsWebRequest: settings.authenticate !== null,
    respondToError: (error) => respondToError(error, newRequestId()),
  };
}

/** A page accepts no parameters: refuses them with the message of an operation without input. */
function refuseParameters(query: string): void {
  if (query === "") return;
  const received = { ...readQuery(query), headers: new Map() };
  try {
    parseInput(noInput, received.fields, () => received.issues);
  } catch (error) {
    throw nameAsSent(error, received);
  }
}

/** An array is passed on like an object: its schema expects an array, and no header holds a field of it. */
function asFields(list: readonly unknown[]): ReceivedFields["fields"] {
  return list as unknown as ReceivedFields["fields"];
}

/** How many times longer than another body an array may be. */
const LIST_FACTOR = 16;
