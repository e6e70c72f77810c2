import type { DefaultTypes, LatchkeyTypes } from "@latchkey/core";
import { Elysia, status } from "elysia";
import { createDecisions } from "./decide.js";
import type { GuardOptions } from "./options.js";
import type { GuardLatchkey, GuardQuestion, NotOptional, ReservingQuestion } from "./question.js";
import type { ApiKey } from "./refusal.js";
import type { ReservedKey } from "./reservation.js";
import { whenResponseEnds } from "./response-end.js";
import { untilValuesEnd } from "./until-values-end.js";
import {
  presentedByHeaders,
  refusedResponse,
  untilBodyEnds,
  untilRead,
  withWatchedBody,
} from "./web-request.js";

export type {
  ApiKey,
  ApiKeyOf,
  GuardLatchkey,
  GuardOptions,
  GuardQuestion,
  ReservedKey,
} from "./named-types.js";

/** Passed to your functions in the question and the options. It has no body, because a guard refuses before that is read. */
export interface ElysiaCall {
  readonly request: Request;
  /** The path parameters of the route. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** The parts of Elysia's types to which a guard adds nothing. */
interface Nothing {
  // biome-ignore-start lint/complexity/noBannedTypes: Elysia's own type for nothing
  readonly singleton: { decorator: {}; store: {}; derive: {}; resolve: {} };
  readonly definitions: { typebox: {}; error: {} };
  readonly metadata: {
    schema: {};
    standaloneSchema: {};
    macro: {};
    macroFn: {};
    parser: {};
    response: {};
  };
  readonly routes: {};
  readonly hooks: { derive: {}; schema: {}; standaloneSchema: {}; response: {} };
  // biome-ignore-end lint/complexity/noBannedTypes: Elysia's own type for nothing
}

/** A plugin that guards the routes after it, whose handlers get `apiKey`: null only if the key is optional and none was presented. */
export type ElysiaGuard<Key = ApiKey> = Elysia<
  "",
  Nothing["singleton"],
  Nothing["definitions"],
  Nothing["metadata"],
  Nothing["routes"],
  Nothing["hooks"] & { resolve: { apiKey: Key } }
>;

/** Creates the guard of routes from their question. With `reserve`, the verdict has `settle` and `release`. */
export interface CreateElysiaGuard<Types extends LatchkeyTypes = DefaultTypes> {
  (question: ReservingQuestion<ElysiaCall, Types> & NotOptional): ElysiaGuard<ReservedKey<Types>>;
  (question: ReservingQuestion<ElysiaCall, Types>): ElysiaGuard<ReservedKey<Types> | null>;
  (question?: GuardQuestion<ElysiaCall, Types> & NotOptional): ElysiaGuard<ApiKey<Types>>;
  (question: GuardQuestion<ElysiaCall, Types>): ElysiaGuard<ApiKey<Types> | null>;
}

/** Functions that end what is held for a pending request. */
const held = new WeakMap<Request, Set<() => void>>();

/** Requests whose response {@link endWithResponse} observes. Elysia does not call it if the guard is in a group, nor with `aot: false`. */
const observed = new WeakSet<Request>();

/**
 * Creates guards for routes of Elysia 1.4. Each is a plugin: for the routes added after it, it resolves `apiKey` or sends the refusal.
 *
 * The address of the socket is known on Bun (`server.requestIP`). Elsewhere, set `trustProxy`, or find the address with `getAddress`.
 *
 * @throws TypeError naming the wrong option. A question is checked when you create its guard, before the first request.
 * @example
 * const guard = createGuard(latchkey, { trustProxy: 1 });
 * new Elysia().use(guard({ permissions: "tiles.read" })).get("/tiles", ({ apiKey }) => apiKey.keyId);
 */
export function createGuard<Types extends LatchkeyTypes = DefaultTypes>(
  latchkey: GuardLatchkey<Types>,
  options?: GuardOptions<ElysiaCall>,
): CreateElysiaGuard<Types> {
  const { createDecide } = createDecisions(latchkey, options);
  const guard = (
    question?: GuardQuestion<ElysiaCall, Types>,
  ): ElysiaGuard<ApiKey<Types> | null> => {
    const decide = createDecide(question);
    // An app of another copy of Elysia, as in a CommonJS program, does not recognise what `status` of this copy returns, and would go on to
    // the handler. Each guard has its own, so that none removes the refusal of another.
    const refusals = new WeakMap<Request, Response>();
    // Destructured on purpose: Elysia parses the source of a function to see what it uses, and for a whole context it would read the body.
    const plugin = new Elysia()
      .wrap(endWithResponse)
      .resolve({ as: "scoped" }, async ({ request, params, server, set }) => {
        refusals.delete(request);
        const node = nodeOf(request);
        const present = () => {
          const address =
            node === null ? server?.requestIP?.(request)?.address : addressOf(node.req);
          return presentedByHeaders(request.headers, address ?? null);
        };
        const decision = await decide(present, { request, params });
        if (!decision.admitted) {
          const refusal = refusedResponse(decision);
          refusals.set(request, refusal);
          return status(decision.status, refusal);
        }
        for (const [name, value] of Object.entries(decision.headers))
          set.headers[name.toLowerCase()] = value;
        const { end } = decision;
        if (end !== undefined && !(node !== null && whenResponseEnds(node.req, node.res, end)))
          hold(request, end);
        return { apiKey: decision.apiKey };
      })
      .onBeforeHandle({ as: "scoped" }, ({ request }) => refusals.get(request))
      // Not in `onAfterHandle`: with such a hook and `aot: false`, Elysia validates responses differently.
      .mapResponse({ as: "scoped" }, ({ request, responseValue }) => {
        if (observed.has(request)) return undefined;
        // Elysia takes any result here, and makes a response of it.
        return untilStreamEnds(request, responseValue) as Response | undefined;
      })
      .onError({ as: "scoped" }, ({ request }) => {
        if (!observed.has(request)) endHeld(request);
      })
      .onAfterResponse({ as: "scoped" }, ({ request }) => {
        if (!observed.has(request)) endHeld(request);
      });
    return plugin as unknown as ElysiaGuard<ApiKey<Types> | null>;
  };
  return guard as CreateElysiaGuard<Types>;
}

/** Fields that Elysia's adapter for Node adds to a request. */
interface OnNode {
  readonly req: { readonly socket?: { readonly remoteAddress?: string } | null };
  readonly res: unknown;
}

function nodeOf(request: object): OnNode | null {
  const { runtime } = request as { readonly runtime?: { readonly node?: OnNode } };
  return runtime?.node?.req === undefined ? null : runtime.node;
}

function addressOf({ socket }: OnNode["req"]): string | undefined {
  return socket?.remoteAddress;
}

function hold(request: Request, end: () => void): void {
  const { signal } = request;
  if (signal?.aborted === true) {
    end();
    return;
  }
  // Before there is a response, nothing else notices that the client has disconnected.
  signal?.addEventListener("abort", () => end());
  const ends = held.get(request);
  if (ends === undefined) held.set(request, new Set([end]));
  else ends.add(end);
}

/**
 * Wraps everything that an app does for a request. It does not depend on a particular guard: if several guards add it, Elysia keeps one.
 */
function endWithResponse(
  handle: (request: Request, ...rest: readonly unknown[]) => unknown,
): (request: Request, ...rest: readonly unknown[]) => unknown {
  return (request, ...rest) => {
    observed.add(request);
    const answer = handle(request, ...rest);
    // A synchronous answer has not called the store, so nothing is held.
    return isThenable(answer) ? untilEnded(request, answer) : answer;
  };
}

/** Not `instanceof Promise`: an instrumentation may have put a Promise of its own in its place. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}

function endHeld(request: Request): void {
  for (const end of held.get(request) ?? []) end();
}

/** If the result of a handler is a stream, one whose end ends what is held; otherwise undefined. */
function untilStreamEnds(request: Request, result: unknown): unknown {
  const ends = held.get(request);
  if (ends === undefined) return undefined;
  const end = (): void => {
    for (const one of ends) one();
  };
  if (result instanceof Response) {
    const response = withWatchedBody(request, result, end);
    if (response !== null) held.delete(request);
    return response ?? undefined;
  }
  const isStream = result instanceof ReadableStream;
  if (!isStream && !isGenerator(result)) return undefined;
  held.delete(request);
  // Elysia's `sse` marks a stream with it.
  const { sse } = result as { readonly sse?: unknown };
  if (isStream) return Object.assign(untilRead(result, end), { sse });
  const values = { [Symbol.asyncIterator]: () => result };
  const watched = untilValuesEnd(values, end, () => undefined)[Symbol.asyncIterator]();
  // Elysia tells a generator from an object by its prototype.
  Object.setPrototypeOf(watched, Object.getPrototypeOf(result));
  return Object.assign(watched, { sse, [Symbol.asyncIterator]: () => watched });
}

/** As Elysia recognizes one. */
function isGenerator(value: unknown): value is AsyncIterator<unknown> {
  return typeof (value as Partial<AsyncIterator<unknown>> | null | undefined)?.next === "function";
}

async function untilEnded(request: Request, answer: PromiseLike<unknown>): Promise<unknown> {
  const end = (): void => endHeld(request);
  try {
    const response = await answer;
    if (!held.has(request)) return response;
    if (response instanceof Response) return await untilBodyEnds(request, () => response, end);
    // A switched protocol.
    end();
    return response;
  } catch (error) {
    end();
    throw error;
  }
}
