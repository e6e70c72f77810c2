import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
} from "@nestjs/common";
import { describe, expect, test, vi } from "vitest";
import { ApiKeyRefused, createGuard } from "./nest.js";
import type { ReservedKey } from "./reservation.js";
import { serveNest } from "./testing/nest-app.js";
import { MINUTE_MS, open } from "./testing/open.js";

const visit = (port: number, key?: string) =>
  fetch(`http://127.0.0.1:${port}/tiles`, {
    headers: key === undefined ? {} : { "X-API-Key": key },
  });

describe.each([false, true])("NestJS, on Fastify: %s", (isOnFastify) => {
  test("an exception filter gets the refusal, with its code, verdict and headers", async () => {
    const { latchkey, issue } = await open();
    const seen: ApiKeyRefused[] = [];
    class Filter implements ExceptionFilter<ApiKeyRefused> {
      catch(error: ApiKeyRefused, host: ArgumentsHost) {
        seen.push(error);
        const response = host.switchToHttp().getResponse();
        response.status(418).send(error.getResponse());
      }
    }
    Catch(ApiKeyRefused)(Filter);
    const guard = createGuard(latchkey)();
    const route = () => "in";
    const port = await serveNest("tiles", guard, route, { isOnFastify, filter: new Filter() });
    const key = await issue({ ratelimit: { limit: 1, duration: MINUTE_MS } });
    expect((await visit(port, key)).status).toBe(200);
    const refused = await visit(port, key);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([418, "50"]);
    expect(refused.headers.get("ratelimit")).toBe('"default";r=0;t=50');
    expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 50_000 });
    expect(seen[0]?.message).toBe("RATE_LIMITED");
    expect([seen[0]?.getStatus(), seen[0]?.refusal.verdict?.code]).toEqual([429, "RATE_LIMITED"]);
    expect(JSON.stringify(seen)).not.toContain(key);
  });

  test("the contract's body is sent, and so is the body from onRefusal: a text within Nest's own object", async () => {
    const { latchkey } = await open();
    const bodyOf = async (options: Parameters<typeof createGuard>[1]) => {
      const port = await serveNest("tiles", createGuard(latchkey, options)(), () => "in", {
        isOnFastify,
      });
      const response = await visit(port);
      return [response.status, await response.json()];
    };
    expect(await bodyOf({ problem: "contract" })).toEqual([
      401,
      { error: expect.objectContaining({ code: "UNAUTHORIZED" }) },
    ]);
    expect(await bodyOf({ onRefusal: () => ({ status: 404, body: { none: true } }) })).toEqual([
      404,
      { none: true },
    ]);
    expect(await bodyOf({ onRefusal: () => ({ body: "no" }) })).toEqual([
      401,
      { statusCode: 401, message: "no" },
    ]);
  });

  test("functions of the question get the context, and a handler settles what its route reserved", async () => {
    const { latchkey, issue } = await open();
    const reserve = (context: ExecutionContext) =>
      Number(context.switchToHttp().getRequest<{ query: { count: string } }>().query.count);
    const guard = createGuard(latchkey)({ reserve });
    const route = async (apiKey: ReservedKey) => (await apiKey.settle({ cost: 3 }))?.remaining;
    const port = await serveNest("tiles", guard, route as never, { isOnFastify });
    const headers = { "X-API-Key": await issue({ remaining: 100 }) };
    const response = await fetch(`http://127.0.0.1:${port}/tiles?count=40`, { headers });
    expect([response.status, await response.text()]).toEqual([200, "97"]);
  });
});

test("NestJS: a message that is not HTTP is refused, and onError gets the reason", async () => {
  const { latchkey } = await open();
  const onError = vi.fn();
  const client = { handshake: {} };
  const context = {
    getType: () => "ws",
    switchToHttp: () => ({ getRequest: () => client, getResponse: () => client }),
  } as unknown as ExecutionContext;
  const guard = createGuard(latchkey, { onError })({ optional: true });
  const refused = await guard.canActivate(context).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiKeyRefused);
  expect((refused as ApiKeyRefused).getStatus()).toBe(500);
  expect(String(onError.mock.calls[0]?.[0])).toContain("HTTP");
});

test("NestJS: a wrong question throws when the guard is created", async () => {
  const { latchkey } = await open();
  // @ts-expect-error: misspelt
  expect(() => createGuard(latchkey)({ permission: "tiles.read" })).toThrow('"permission"');
});
