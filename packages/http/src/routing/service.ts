import { noInput, parseInput } from "@latchkey/core";
import type { ZodObject } from "zod";
import { type Authenticator, byHost, byRootKey } from "../auth/authenticate.js";
import { authorize } from "../auth/authorize.js";
import { type Caller, createCallers } from "../auth/callers.js";
import { documentPage } from "../docs-page/document-page.js";
import { ERROR_PAGES } from "../docs-page/error-pages.js";
import type { Page } from "../docs-page/page.js";
import { REFERENCE_PAGES } from "../docs-page/reference-page.js";
import { familyOf } from "../openapi/tags.js";
import { VERIFY_KEY } from "../operations/keys.js";
import type { Operation } from "../operations/operation.js";
import type { Settings } from "../options.js";
import { readForm } from "../request/form.js";
import { addHeaderFields, type ReceivedInput } from "../request/header-fields.js";
import { type HttpRequest, requireForm, requireJson } from "../request/http-request.js";
import { parseJsonArray, parseJsonObject } from "../request/json.js";
import { nameAsSent } from "../request/name-as-sent.js";
import { type ReceivedFields, readQuery } from "../request/query.js";
import { type Repeat, repeatOf } from "../request/repeat.js";
import { createRequestIds } from "../request/request-id.js";
import { V1 } from "../v1.js";
import type { Contract } from "./contract.js";
import { type HttpResponse, pageResponse, successResponse } from "./http-response.js";
import { once } from "./once.js";
import { respondToError } from "./respond-to-error.js";
import { createRouter, splitTarget } from "./router.js";

/** Everything between a request and its response. No method throws or rejects. */
export interface Service {
  respond(request: HttpRequest): Promise<HttpResponse>;
  /** The response to a request that could not be read at all. */
  respondToError(error: unknown): HttpResponse;
  /** Whether the requests must have a `webRequest`. */
  readonly needsWebRequest: boolean;
}

/** A version of the contract, and the lookup of its paths. */
interface ServedContract {
  readonly contract: Contract;
  readonly findTarget: (path: string, method: string) => Operation | Page;
}

/** Creates the service. Its code follows the order in which a request is checked. */
export function createService(settings: Settings): Service {
  const { latchkey, maxBodyBytes } = settings;
  const newRequestId = createRequestIds();
  const v1 = serve(V1, settings);
  const pathOfV2 = settings.v2 ? `${settings.basePath}/v2/` : null;
  // Not imported with the package: most programs never serve a request of v2.
  const loadV2 = once(async () => serve((await import("../v2/contract.js")).V2, settings));
  const everyone = createCallers(latchkey)(latchkey.workspaceId, null, ["*"]);
  const acceptEveryone: Authenticator = async () => everyone;
  const authenticate =
    settings.authenticate === null ? byRootKey(latchkey) : byHost(latchkey, settings.authenticate);

  function authenticatorOf({ isPublic, name }: Operation): Authenticator {
    const isOpen = isPublic || (name === VERIFY_KEY && settings.publicVerify);
    return isOpen ? acceptEveryone : authenticate;
  }

  async function dispatch(
    target: Operation | Page,
    request: HttpRequest,
    query: string,
    requestId: string,
  ): Promise<HttpResponse> {
    if ("content" in target) {
      refuseParameters(query);
      return pageResponse(await target.content(), requestId);
    }
    const operation = target;
    const { isVerification = false } = operation;
    const authenticateCaller = authenticatorOf(operation);
    let caller = await authenticateCaller(request, isVerification);
    const startedAt = performance.now();
    const received =
      operation.method === "GET"
        ? readQuery(query, operation.queryTypes)
        : await readBody(operation, request, query);
    if (performance.now() - startedAt > LATE_BODY_MS)
      caller = await authenticateCaller(request, isVerification);
    const input = addHeaderFields(request, operation.headerFields, received);
    const repeat = operation.isRepeatable ? repeatOf(caller, request) : undefined;
    try {
      const isAdmitted =
        input.issues.length === 0 && operation.isKnownAllowed?.(caller, input.fields) === true;
      if (!isAdmitted) await admit(operation, caller, input, repeat);
      return successResponse(
        await operation.run(caller, input.fields, requestId, repeat?.beside),
        requestId,
        operation.maxAgeSeconds,
      );
    } catch (error) {
      throw nameAsSent(error, input);
    }
  }

  /** Checks fields and permission, in this order. */
  async function admit(
    operation: Operation,
    caller: Caller,
    { fields, issues }: ReceivedInput,
    repeat: Repeat | undefined,
  ): Promise<void> {
    // Checks that depend on the time do not apply to repeats: core makes them, unless it remembers the result.
    const extra = repeat ? [] : (operation.extraIssues?.(fields, latchkey.now()) ?? []);
    const input = parseInput(operation.input, fields, () => [...issues, ...extra]);
    await authorize(caller, operation.requiredPermissions(input), repeat?.refuseFirst);
  }

  async function readBody(
    { acceptsList, isBulk, isForm, input }: Operation,
    request: HttpRequest,
    query: string,
  ): Promise<ReceivedFields> {
    const bytes = await request.readBody(maxBodyBytes * (isBulk === true ? BULK_FACTOR : 1));
    const parameters = query === "" ? [] : Object.keys(readQuery(query).fields);
    const stray = parameters.map((path) => ({ path, message: "is not a known query parameter" }));
    if (isForm === true) {
      requireForm(request);
      const form = readForm(bytes, Object.keys((input as ZodObject).shape));
      return { ...form, issues: [...form.issues, ...stray] };
    }
    requireJson(request);
    return {
      fields: acceptsList === true ? asFields(parseJsonArray(bytes)) : parseJsonObject(bytes),
      issues: stray,
      unreadable: [],
    };
  }

  return {
    async respond(request) {
      const requestId = newRequestId();
      let served = v1;
      try {
        const { path, query } = splitTarget(request.target);
        if (pathOfV2 !== null && path.startsWith(pathOfV2)) served = await loadV2();
        const target = served.findTarget(path, request.method);
        return await dispatch(target, request, query, requestId);
      } catch (error) {
        return respondToError(error, served.contract, requestId, settings);
      }
    },
    needsWebRequest: settings.authenticate !== null,
    respondToError: (error) => respondToError(error, V1, newRequestId(), settings),
  };
}

function serve(whole: Contract, { basePath, docs, rootKeys }: Settings): ServedContract {
  const served = rootKeys ? whole.operations : whole.operations.filter(isNotOnRootKeys);
  const operations = served.map(withoutPrototype);
  const contract = { ...whole, operations };
  const { version, unknownPath } = contract;
  const pages = docs ? [documentPage(contract, basePath), ...REFERENCE_PAGES, ...ERROR_PAGES] : [];
  const findTarget = createRouter<Operation | Page>(
    [...operations, ...pages],
    `${basePath}/${version}/`,
    unknownPath,
  );
  return { contract, findTarget };
}

/** Without a prototype, fields added to `Object.prototype` have no effect: `isPublic` there would open every operation. */
function withoutPrototype(operation: Operation): Operation {
  return Object.assign(Object.create(null) as object, operation);
}

function isNotOnRootKeys({ name }: Operation): boolean {
  return familyOf(name) !== "rootKeys";
}

/** Refuses parameters of a page, with the message of an operation without input. */
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

/** After a body that took longer, the caller is authenticated again: a caller that was revoked meanwhile must not get through. */
const LATE_BODY_MS = 1_000;

/** Factor of the size limit for the body of a call with many items. */
const BULK_FACTOR = 16;
