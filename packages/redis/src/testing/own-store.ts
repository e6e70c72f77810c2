import type { KeyStore } from "@latchkey/core";
import type { Redis } from "ioredis";
import { redisStore } from "../index.js";
import { PATIENT, startServer, type TestServer } from "./redis-server.js";

/** A store on a server of its own. */
export interface OwnStore {
  readonly server: TestServer;
  /** Reads and changes what the store has written. */
  readonly control: Redis;
  readonly store: KeyStore;
  /** Closes all of it. */
  readonly close: () => Promise<void>;
}

/** Starts a server, and opens a patient store on it. */
export async function openOwnStore(): Promise<OwnStore> {
  const server = await startServer();
  const control = server.connect();
  const store = redisStore(server.url, PATIENT);
  const close = async () => {
    control.disconnect();
    await store.close();
    await server.remove();
  };
  return { server, control, store, close };
}
