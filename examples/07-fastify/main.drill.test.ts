import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 07-fastify", () => testGuardedRoute("07-fastify/main.mjs"));
