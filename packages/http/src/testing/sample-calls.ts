import { OPERATIONS } from "../operations/table.js";
import type { Fixture } from "./fixture.js";
import type { TestService } from "./open-service.js";
import type { Sample } from "./samples.js";

/** Names of the operations that require authentication. */
export const GUARDED = OPERATIONS.filter(({ isPublic }) => isPublic !== true).map(
  ({ name }) => name,
);

/** The permissions of a sample for only this fixture's API, identity and namespace. */
export function narrowed(
  { requiredPermissions }: Sample,
  { apiId, identityId, namespace }: Fixture,
): string[] {
  const ids = new Map([
    ["ratelimit", namespace],
    ["api", apiId],
    ["identity", identityId],
  ]);
  return requiredPermissions.map((need) => {
    const [resource = "", action] = need.split(".");
    return `${resource}.${ids.get(resource) ?? "*"}.${action}`;
  });
}

/** The permissions of a sample for all resources. */
export function widened({ requiredPermissions }: Sample): string[] {
  return requiredPermissions.map((need) => need.replace(".", ".*."));
}

/** Calls a sample as a caller with these permissions. */
export function callAs(
  service: TestService,
  { name, input }: Sample,
  fixture: Fixture,
  permissions: readonly string[],
) {
  const headers = { "x-permissions": JSON.stringify(permissions) };
  return service.call(name, input(fixture), { token: null, headers });
}
