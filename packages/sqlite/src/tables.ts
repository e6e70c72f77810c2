import { AdHocWindows } from "./ad-hoc-windows.js";
import { Apis } from "./apis.js";
import { Changes } from "./change-log.js";
import { Charging } from "./charge.js";
import type { Connection } from "./connection.js";
import { Counters } from "./counters.js";
import { Identities } from "./identities.js";
import { KeyDeletion } from "./key-deletion.js";
import { KeyGrants } from "./key-grants.js";
import { KeyInsertion } from "./key-insertion.js";
import { KeyQueries } from "./key-queries.js";
import { KeyRows } from "./key-rows.js";
import { KeyUpdate } from "./key-update.js";
import { NamespaceWindows } from "./namespace-windows.js";
import { Permissions } from "./permissions.js";
import { Roles } from "./roles.js";
import { RootKeys } from "./root-keys.js";
import { KeyRotation } from "./rotation.js";
import { VerificationCounters } from "./verification-counters.js";
import { Workspaces } from "./workspaces.js";

/** Everything that reads and writes the tables of one database, put together. */
export type Tables = ReturnType<typeof openTables>;

/** Compiles every statement: tables that are not as they should be show themselves now. */
export function openTables(connection: Connection) {
  const { database } = connection;
  const workspaces = new Workspaces(database);
  const permissions = new Permissions(database, workspaces);
  const roles = new Roles(database, workspaces, permissions);
  const counters = new Counters(database);
  const adHocWindows = new AdHocWindows(database);
  const identities = new Identities(database, workspaces, counters);
  const rows = new KeyRows(database);
  const grants = new KeyGrants(database, roles, permissions);
  return {
    changes: new Changes(database),
    workspaces,
    apis: new Apis(database, workspaces),
    permissions,
    roles,
    rootKeys: new RootKeys(database, workspaces),
    identities,
    keys: new KeyQueries(database, identities),
    insertion: new KeyInsertion(rows, counters, identities, grants),
    update: new KeyUpdate(database, rows, counters, identities, grants),
    rotation: new KeyRotation(database, rows, grants),
    deletion: new KeyDeletion(database, rows, counters, grants, adHocWindows),
    charging: new Charging(connection, counters, adHocWindows),
    namespaces: new NamespaceWindows(database),
    verifications: new VerificationCounters(database),
  };
}
