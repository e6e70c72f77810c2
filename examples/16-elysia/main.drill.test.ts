import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 16-elysia", () => testGuardedRoute("16-elysia/main.mjs"));
