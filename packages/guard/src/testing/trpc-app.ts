import type { IncomingMessage, ServerResponse } from "node:http";
import { initTRPC, TRPCError } from "@trpc/server";
import type { ApiKey } from "../refusal.js";
import { refusalOf, type TrpcGuard } from "../trpc.js";
import { listenOn } from "./listen.js";

interface Context {
  readonly req: IncomingMessage;
  /** On Node: the guard sees its end, and sets its headers. */
  readonly res?: ServerResponse;
  /** On a web standard server. */
  readonly resHeaders?: Headers;
}

/**
 * Serves one procedure of tRPC until the test is over, and returns the port. Its result is sent unchanged, without tRPC's own envelope, so
 * that clients of every entry read the same.
 *
 * @param isOnNode - Whether the guard gets the response.
 * @param send - Sends the result of the procedure.
 */
export function serveTrpc<Answer>(
  guard: TrpcGuard<ApiKey | null>,
  procedure: (apiKey: ApiKey | null, request: IncomingMessage) => Answer | Promise<Answer>,
  send: (answer: Awaited<Answer>, response: ServerResponse) => unknown,
  isOnNode = true,
): Promise<number> {
  const t = initTRPC.context<Context>().create();
  const router = t.router({
    tiles: t.procedure.use(guard).query(({ ctx }) => procedure(ctx.apiKey, ctx.req)),
  });
  return listenOn(async (req, res) => {
    const controller = new AbortController();
    res.on("close", () => controller.abort());
    const resHeaders = new Headers();
    const context = isOnNode ? { req, res } : { req, resHeaders };
    const { signal } = controller;
    const copyHeaders = () => {
      for (const [name, value] of resHeaders) res.setHeader(name, value);
    };
    try {
      const answer = (await router.createCaller(context, { signal }).tiles()) as Awaited<Answer>;
      copyHeaders();
      await send(answer, res);
    } catch (error) {
      copyHeaders();
      const refused = error instanceof TRPCError ? refusalOf(error) : null;
      res.statusCode = refused?.status ?? 500;
      if (refused !== null)
        res.setHeader("Content-Type", refused.headers["Content-Type"] as string);
      res.end(refused?.body ?? "broken");
    }
  });
}
