import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 09-next", () => testGuardedRoute("09-next/main.mjs"));
