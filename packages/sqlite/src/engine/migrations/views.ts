import { VIEW_FIELDS } from "@latchkey/core";

const SWITCHED_ON =
  "CASE WHEN body IS NOT NULL THEN body ->> '$.disabled' IS NULL END AS switchedOn";

function columnsOf(fields: readonly string[]): string {
  return fields.map((field) => `, body ->> '$.${field}' AS ${field}`).join("");
}

/**
 * A view for people: fields of bodies as columns, objects and lists as JSON, null for a missing field. A damaged body has only nulls, and
 * does not end a query over the others.
 */
function viewOf(name: keyof typeof VIEW_FIELDS, kind: number, beside: string): string {
  return `DROP VIEW IF EXISTS latchkey_${name};
CREATE VIEW latchkey_${name} AS SELECT workspaceId, id, version${columnsOf(VIEW_FIELDS[name])}, ${beside} FROM (
  SELECT w.id AS workspaceId, r.id, r.version, r.link, CASE WHEN json_valid(r.body) THEN r.body END AS body, c.remaining,
    u.at AS usedAt
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters LEFT JOIN latchkey_used u ON u.record = r.seq
  WHERE r.kind = ${kind});`;
}

/** SQL that creates the views, replacing earlier ones. */
export const VIEWS: string = `
${viewOf("keys", 3, `link AS identityId, ${SWITCHED_ON}, remaining, usedAt${columnsOf(VIEW_FIELDS.addedFields)}`)}
${viewOf("identities", 4, "remaining, usedAt")}
${viewOf("audit", 9, "coalesce(body ->> '$.resourceId', body ->> '$.keyId', body ->> '$.identityId') AS resourceId")}
`;
