import { describe } from "vitest";
import { testGuardedRoute } from "../testing/guarded-route.js";

describe("the guarded route of example 06-express", () => testGuardedRoute("06-express/main.mjs"));
