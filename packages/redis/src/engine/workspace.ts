import type { Connection } from "./connection.js";
import { Names } from "./names.js";

/** A workspace in Redis: what its keys are called there, and the connection to them. */
export class Workspace extends Names {
  readonly connection: Connection;

  constructor(connection: Connection, prefix: string, workspaceId: string) {
    super(prefix, workspaceId);
    this.connection = connection;
  }
}
