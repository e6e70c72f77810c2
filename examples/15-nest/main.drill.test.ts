import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 15-nest", () => testGuardedRoute("15-nest/main.mjs"));
