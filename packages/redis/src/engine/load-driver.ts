import { createRequire } from "node:module";
import { loadDriver } from "@latchkey/core";

type Driver = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

/** Called by way of `Reflect`: a bundler that sees the name would refuse to build a program where the driver is not installed. */
const requireHere = createRequire(import.meta.url);
const required = (name: string): unknown => Reflect.apply(requireHere, undefined, [name]);

/** ioredis, loaded when a URL opens the first store; a client that is passed in does not need it. `load` is for tests. */
export const loadIoredis = (load: () => Driver = () => required("ioredis") as Driver): Driver =>
  loadDriver("ioredis", load);
