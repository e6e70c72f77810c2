import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 14-koa", () => testGuardedRoute("14-koa/main.mjs"));
