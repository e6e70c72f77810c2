import { loadDriver, requireFrom } from "@latchkey/core";

type Driver = Pick<typeof import("ioredis"), "Redis" | "Cluster">;

const required = (name: string): unknown => requireFrom(import.meta.url, name);

/** ioredis, loaded when a URL opens the first store; a client that is passed in does not need it. `load` is for tests. */
export const loadIoredis = (load: () => Driver = () => required("ioredis") as Driver): Driver =>
  loadDriver("ioredis", load);
