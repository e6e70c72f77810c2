import type { RedisClient } from "./client.js";
import type { Connection } from "./connection.js";
import { Names } from "./names.js";
import type { Script } from "./scripts.js";

/** A workspace in Redis, as one call uses it: the names of its Redis keys, the connection, and the deadline of the call. */
export class Workspace extends Names {
  readonly connection: Connection;
  readonly #deadline: number;

  constructor(connection: Connection, prefix: string, workspaceId: string) {
    super(prefix, workspaceId);
    this.connection = connection;
    this.#deadline = performance.now() + connection.otherSpanMs;
  }

  /** Runs a script that is not a charge. All scripts of one call share its time. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.connection.run(script, keys, args, this.#deadline - performance.now());
  }

  /** Sends a command that changes nothing, within the same time. */
  ask<Answer>(send: (client: RedisClient) => Promise<Answer>): Promise<Answer> {
    return this.connection.ask(send, this.#deadline - performance.now());
  }
}
