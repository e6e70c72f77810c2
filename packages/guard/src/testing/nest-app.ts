import "reflect-metadata";
import type { AddressInfo } from "node:net";
import {
  All,
  Controller,
  type ExceptionFilter,
  Module,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { onTestFinished } from "vitest";
import { type NestGuard, VerifiedKey } from "../nest.js";
import type { ApiKey } from "../refusal.js";

/** Arguments of a route: the verdict, and the platform's request and response. */
type Route = (apiKey: ApiKey | null, request: never, response: never) => unknown;

/**
 * Serves one route of NestJS, on Express or on Fastify, until the test is over, and returns the port. Decorators are called as functions,
 * because the test runner does not support their syntax.
 */
export async function serveNest(
  path: string,
  guard: NestGuard,
  route: Route,
  {
    isOnFastify = false,
    filter = null,
    /** Whether the route responds itself, through the platform's response. */
    answersItself = false,
  }: {
    readonly isOnFastify?: boolean;
    readonly filter?: ExceptionFilter | null;
    readonly answersItself?: boolean;
  } = {},
): Promise<number> {
  class Tiles {
    tiles(...given: Parameters<Route>): unknown {
      return route(...given);
    }
  }
  const { prototype } = Tiles;
  const method = Object.getOwnPropertyDescriptor(prototype, "tiles") as PropertyDescriptor;
  All(path)(prototype, "tiles", method);
  UseGuards(guard)(prototype, "tiles", method);
  if (filter !== null) UseFilters(filter)(prototype, "tiles", method);
  VerifiedKey()(prototype, "tiles", 0);
  Req()(prototype, "tiles", 1);
  if (answersItself) Res()(prototype, "tiles", 2);
  Controller()(Tiles);
  class App {}
  Module({ controllers: [Tiles] })(App);
  const settings = { logger: false, bodyParser: false } as const;
  const fastify = new FastifyAdapter();
  // Fastify refuses a body for whose type it has no parser.
  fastify.getInstance().addContentTypeParser("*", (_request, payload, done) => done(null, payload));
  const app = isOnFastify
    ? await NestFactory.create(App, fastify, settings)
    : await NestFactory.create(App, settings);
  await app.listen(0, "127.0.0.1");
  const server = app.getHttpServer() as {
    address(): AddressInfo;
    closeAllConnections(): void;
  };
  onTestFinished(async () => {
    server.closeAllConnections();
    await app.close();
  });
  return server.address().port;
}
