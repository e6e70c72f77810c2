import { VIEW_FIELDS } from "@latchkey/core";

const NUMBERS = ["createdAt", "updatedAt", "expires", "at", "startsAt", "expiresWhenUnused"];
const OBJECTS = "meta refill ratelimits roles permissions before after tags ipWhitelist".split(" ");

/** A field of a body as a column: null if the body lacks it, or has it in a form that was never written. */
function columnOf(field: string): string {
  if (OBJECTS.includes(field)) return `body -> '${field}' AS ${field}`;
  if (!NUMBERS.includes(field)) return `body ->> '${field}' AS ${field}`;
  return `CASE jsonb_typeof(body -> '${field}') WHEN 'number' THEN (body -> '${field}')::bigint END AS ${field}`;
}

function viewOf(name: keyof typeof VIEW_FIELDS, kind: number, beside: string): string {
  const columns = VIEW_FIELDS[name].map(columnOf).join(", ");
  return `CREATE OR REPLACE VIEW latchkey.${name} AS SELECT workspaceId, id, version, ${columns}, ${beside} FROM (
  SELECT w.id AS workspaceId, r.id, r.version, r.link, latchkey.json_or_null(r.body) AS body, c.remaining, r.used_at
  FROM latchkey.record r JOIN latchkey.workspace w ON w.seq = r.workspace LEFT JOIN latchkey.counters c ON c.seq = r.counters
  WHERE r.kind = ${kind}) r;`;
}

/** Only the switch: whether a key is expired or used up is computed when it is read. */
const SWITCHED_ON = "CASE WHEN body IS NOT NULL THEN NOT body ? 'disabled' END AS switchedOn";
const RESOURCE =
  "coalesce(body ->> 'resourceId', body ->> 'keyId', body ->> 'identityId') AS resourceId";

/**
 * Views for people, with the same columns as SQLite's. Their names are folded to lower case, like names without quotes in a query. A
 * damaged body shows no fields, and does not end a query over the others.
 */
export const VIEWS = `
CREATE OR REPLACE FUNCTION latchkey.json_or_null(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $function$
BEGIN
  RETURN body::jsonb;
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END
$function$;
${viewOf("keys", 3, `link AS identityId, ${SWITCHED_ON}, remaining, used_at AS usedAt${VIEW_FIELDS.addedFields.map((field) => `, ${columnOf(field)}`).join("")}`)}
${viewOf("identities", 4, "remaining, used_at AS usedAt")}
${viewOf("audit", 9, RESOURCE)}
`;
