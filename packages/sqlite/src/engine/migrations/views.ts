import { KEY_LABELS } from "@latchkey/core";

const KEY_FIELDS = `apiId, start, name, meta, createdAt, updatedAt, expires, refill, ratelimits, environment,
  usesFrom, rotatedFrom, rotatedTo, roles, permissions`;
/** Labels of a key that came later stand behind all others. A further one needs a step that makes the views again. */
const ADDED = Object.keys(KEY_LABELS).filter((label) => !KEY_FIELDS.includes(label));

const SWITCHED_ON =
  "CASE WHEN body IS NOT NULL THEN body ->> '$.disabled' IS NULL END AS switchedOn";

function columnsOf(fields: readonly string[]): string {
  return fields.map((field) => `, body ->> '$.${field}' AS ${field}`).join("");
}

/**
 * A view for people: fields of bodies as columns, objects and lists as JSON, null for what a body does not have. A body that
 * is damaged has none, and ends no query over the others. There is no column for the hash of a key or its sealed secret.
 */
function viewOf(name: string, kind: number, fields: string, beside: string): string {
  return `DROP VIEW IF EXISTS ${name};
CREATE VIEW ${name} AS SELECT workspaceId, id, version${columnsOf(fields.split(/,\s+/))}, ${beside} FROM (
  SELECT w.id AS workspaceId, r.id, r.version, r.link, CASE WHEN json_valid(r.body) THEN r.body END AS body, c.remaining,
    u.at AS usedAt
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters LEFT JOIN latchkey_used u ON u.record = r.seq
  WHERE r.kind = ${kind});`;
}

/** SQL that makes the views, also where there are earlier ones. */
export const VIEWS: string = `
${viewOf("latchkey_keys", 3, KEY_FIELDS, `link AS identityId, ${SWITCHED_ON}, remaining, usedAt${columnsOf(ADDED)}`)}
${viewOf("latchkey_identities", 4, "externalId, meta, ratelimits, refill, createdAt", "remaining, usedAt")}
${viewOf("latchkey_audit", 9, "type, at, actor, keyId, identityId, before, after", "coalesce(body ->> '$.resourceId', body ->> '$.keyId', body ->> '$.identityId') AS resourceId")}
`;
