import type { RawRecord } from "./rows.js";

interface Limit {
  readonly name?: string;
  readonly limit: number;
  readonly duration: number;
  readonly autoApply?: boolean;
}

/** The parts of a key's body that its view shows. */
interface KeyBody {
  readonly apiId: string;
  readonly start: string;
  readonly createdAt: number;
  readonly ratelimits?: readonly Limit[];
  readonly permissions?: readonly string[];
}

/** The view of a key as listKeys returns it, built by hand. `names`: names of permissions, by id. */
export function viewOf(
  { id, body, remaining }: RawRecord,
  workspaceId: string,
  names: ReadonlyMap<string, string>,
): object {
  const { apiId, start, createdAt, ratelimits = [], permissions = [] } = body as KeyBody;
  const limits = ratelimits.map(({ name = "default", limit, duration, autoApply }) => ({
    name,
    limit,
    duration,
    autoApply: autoApply ?? name === "default",
    async: false,
  }));
  const first = limits.find(({ name }) => name === "default");
  return {
    id,
    start,
    apiId,
    workspaceId,
    createdAt,
    roles: [],
    permissions: permissions.map((permission) => names.get(permission) ?? "").sort(),
    enabled: remaining !== 0,
    ...(remaining !== null && { remaining }),
    ...(first !== undefined && {
      ratelimit: { async: first.async, limit: first.limit, duration: first.duration },
    }),
    ratelimits: limits,
  };
}
