import type { DefaultTypes, LatchkeyTypes, SpanMs } from "@latchkey/core";
import { type TRPC_ERROR_CODE_KEY, TRPCError, type TRPCMiddlewareFunction } from "@trpc/server";
import { inBackground } from "./background-timer.js";
import { createDecisions } from "./decide.js";
import { rawRequest, rawResponse, setHostHeaders } from "./host-node.js";
import { isOfBody, presentedByNode } from "./node-request.js";
import type { GuardOptions } from "./options.js";
import { otherFramework } from "./other-framework.js";
import type { PresentedRequest } from "./presented-request.js";
import type { GuardLatchkey, GuardQuestion, NotOptional, ReservingQuestion } from "./question.js";
import type { HeaderFields } from "./rate-limit-fields.js";
import type { ApiKey, Refused } from "./refusal.js";
import { REFUSAL_FORMS } from "./refusal-form.js";
import type { ReservedKey } from "./reservation.js";
import { whenResponseEnds } from "./response-end.js";
import { untilValuesEnd } from "./until-values-end.js";
import { presentedByHeaders } from "./web-request.js";

export type {
  ApiKey,
  ApiKeyOf,
  GuardLatchkey,
  GuardOptions,
  GuardQuestion,
  ReservedKey,
} from "./named-types.js";

/** A call of a procedure, passed to your functions in the question and the options. */
export interface TrpcCall<Context extends object = object> {
  /** Result of `createContext`. A guard reads its `req`, and writes to its `res` or `resHeaders`. */
  readonly ctx: Context;
  readonly path: string;
  readonly type: "query" | "mutation" | "subscription";
  /** The input after the validators before the guard. */
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
}

/** Result of a middleware, as tRPC types it. */
type Answer<Key> = ReturnType<
  TRPCMiddlewareFunction<object, object, object, { apiKey: Key }, unknown>
>;

/** Middleware for `procedure.use`, which adds `ctx.apiKey`: null only if the key is optional and none was presented. */
export type TrpcGuard<Key = ApiKey, Context extends object = object> = (
  call: TrpcCall<Context> & {
    readonly next: (changed: { readonly ctx: { readonly apiKey: Key } }) => Answer<Key>;
  },
) => Answer<Key>;

/** Creates the guard of procedures from their question. With `reserve`, the verdict has `settle` and `release`. */
export interface CreateTrpcGuard<
  Types extends LatchkeyTypes = DefaultTypes,
  Context extends object = object,
> {
  (
    question: ReservingQuestion<TrpcCall<Context>, Types> & NotOptional,
  ): TrpcGuard<ReservedKey<Types>, Context>;
  (
    question: ReservingQuestion<TrpcCall<Context>, Types>,
  ): TrpcGuard<ReservedKey<Types> | null, Context>;
  (
    question?: GuardQuestion<TrpcCall<Context>, Types> & NotOptional,
  ): TrpcGuard<ApiKey<Types>, Context>;
  (question: GuardQuestion<TrpcCall<Context>, Types>): TrpcGuard<ApiKey<Types> | null, Context>;
}

/** The cause of the error that a guard throws when it refuses. */
export class ApiKeyRefused extends Error {
  override readonly name = "ApiKeyRefused";
  /** The refusal, with its code, its headers, its body and its verdict. */
  readonly refusal: Refused;

  constructor(refusal: Refused) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/**
 * The refusal behind an error of a procedure; null for any other error. Use it in `errorFormatter`, so that clients learn why they were
 * refused, and for how long.
 *
 * @example
 * const t = initTRPC.create({
 *   errorFormatter: ({ shape, error }) => ({ ...shape, data: { ...shape.data, refusal: refusalOf(error)?.code } }),
 * });
 */
export function refusalOf(error: { readonly cause?: unknown }): Refused | null {
  const { cause } = error;
  // Not `instanceof`: bundlers of development servers load this module more than once.
  if (!(cause instanceof Error) || cause.name !== "ApiKeyRefused") return null;
  return Object.hasOwn(cause, "refusal") ? (cause as ApiKeyRefused).refusal : null;
}

/**
 * Creates guards for procedures of tRPC 11. Each adds the verdict as `ctx.apiKey`, or throws a `TRPCError` whose cause is {@link
 * ApiKeyRefused}.
 *
 * The request is `ctx.req`, of Node or web standard. Headers go to `ctx.res` of Node or Fastify, or to `ctx.resHeaders`, if the context has
 * one of them and headers were not sent yet.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * const tiles = t.procedure.use(guard({ permissions: "tiles.read" })).query(({ ctx }) => ctx.apiKey.keyId);
 */
export function createGuard<
  Types extends LatchkeyTypes = DefaultTypes,
  Context extends object = object,
>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<TrpcCall<Context>>,
): CreateTrpcGuard<Types, Context> {
  const { createDecide } = createDecisions(latchkey, options);
  const canDoWithout = options?.getKey !== undefined;
  const guard = (
    question?: GuardQuestion<TrpcCall<Context>, Types>,
  ): TrpcGuard<ApiKey<Types> | null, Context> => {
    const decide = createDecide(question);
    type Guard = TrpcGuard<ApiKey<Types> | null, Context>;
    const admit = async ({ next, ...call }: Parameters<Guard>[0]): ReturnType<Guard> => {
      const host = (call.ctx ?? {}) as HostContext;
      const decision = await decide(() => presentedBy(host, canDoWithout), call);
      writeHeaders(host, decision.headers);
      if (!decision.admitted)
        throw new TRPCError({
          code: codeOf(decision.status),
          message: REFUSAL_FORMS[decision.code].detail,
          cause: new ApiKeyRefused(decision),
        });
      const { apiKey, end } = decision;
      const answer = () => next({ ctx: { apiKey } });
      if (end === undefined || endsWithResponse(host, end)) return answer();
      return untilResultEnds(call.signal, answer, end);
    };
    return (call) => {
      if (typeof call?.next !== "function" || !("ctx" in call)) throw otherFramework("tRPC");
      return admit(call);
    };
  };
  return guard as unknown as CreateTrpcGuard<Types, Context>;
}

/** What the adapters pass to `createContext`, if the host keeps it in the context. */
interface HostContext {
  readonly req?: unknown;
  readonly res?: unknown;
  readonly resHeaders?: unknown;
}

/** `canDoWithout`: whether the host has `getKey`, so that a context without a request may still have a key. */
function presentedBy({ req }: HostContext, canDoWithout: boolean): PresentedRequest {
  const headers = (req as Partial<Request> | null | undefined)?.headers;
  if (typeof headers?.get === "function") return presentedByHeaders(headers, null);
  if (typeof req === "object" && req !== null) return presentedByNode(rawRequest(req));
  if (canDoWithout) return { authorization: [], apiKey: [], forwardedFor: [], remoteAddress: null };
  throw new TypeError('the context of a guarded procedure must have the request as "req"');
}

function writeHeaders({ res, resHeaders }: HostContext, fields: HeaderFields): void {
  const headers = Object.fromEntries(
    Object.entries(fields).filter(([name]) => name.toLowerCase() !== "content-type"),
  );
  setHostHeaders(res, headers);
  if (!(resHeaders instanceof Headers)) return;
  for (const [name, value] of Object.entries(headers))
    if (!isOfBody(name)) resHeaders.set(name, value);
}

/** Whether the end of Node's response ends what is held. A WebSocket carries many calls, so its end does not. */
function endsWithResponse({ req, res }: HostContext, end: () => void): boolean {
  const response = rawResponse(res);
  return response !== undefined && whenResponseEnds(rawRequest(req), response, end);
}

/**
 * How long the reader of values has to report the end, once its client has disconnected: the procedure learns of it first then, and can
 * settle. Readers of tRPC report it with the next value, which a procedure that ignores `signal` may never yield.
 */
const READER_MS: SpanMs = 5_000;

/** Ends what is held when the procedure has returned, or after the last value that it yields. */
async function untilResultEnds<Result extends { readonly ok: boolean }>(
  signal: AbortSignal | undefined,
  answer: () => Promise<Result>,
  end: () => void,
): Promise<Result> {
  let isRead = false;
  const aborted = (): void => {
    if (isRead) inBackground(end, READER_MS);
    else end();
  };
  if (signal?.aborted === true) end();
  else signal?.addEventListener("abort", aborted);
  const ended = (): void => {
    signal?.removeEventListener("abort", aborted);
    end();
  };
  const result = await answer();
  if (result.ok && "data" in result && isAsyncIterable(result.data)) {
    const begin = () => {
      isRead = true;
    };
    return { ...result, data: untilValuesEnd(result.data, ended, begin) };
  }
  ended();
  return result;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

const CODES: ReadonlyMap<number, TRPC_ERROR_CODE_KEY> = new Map([
  [400, "BAD_REQUEST"],
  [401, "UNAUTHORIZED"],
  [402, "PAYMENT_REQUIRED"],
  [403, "FORBIDDEN"],
  [404, "NOT_FOUND"],
  [429, "TOO_MANY_REQUESTS"],
  [500, "INTERNAL_SERVER_ERROR"],
  [501, "NOT_IMPLEMENTED"],
  [502, "BAD_GATEWAY"],
  [503, "SERVICE_UNAVAILABLE"],
  [504, "GATEWAY_TIMEOUT"],
]);

/** The tRPC code of a status. A status from a hook that tRPC has no code for becomes the nearest code that refuses. */
function codeOf(status: number): TRPC_ERROR_CODE_KEY {
  return CODES.get(status) ?? (status < 500 ? "FORBIDDEN" : "INTERNAL_SERVER_ERROR");
}
