import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 08-hono", () => testGuardedRoute("08-hono/main.mjs"));
