import type { ComponentChildren } from "preact";
import { useList } from "../lib/list.js";
import { useRoute } from "../lib/router.js";
import type { AuditEvent } from "../lib/types.js";
import { AUDIT_COLUMNS } from "./audit-list.js";
import { Empty } from "./basics.js";
import { ListTable } from "./table.js";

const OF_A_RECORD = (
  <Empty title="No entries in the audit log">
    <p>The changes were made before the log existed, or their entries were pruned.</p>
  </Empty>
);

/** The requested part of the audit log; by default that of one record. */
export function AuditOf({
  input,
  empty = OF_A_RECORD,
}: {
  readonly input: Readonly<Record<string, string | undefined>>;
  readonly empty?: ComponentChildren;
}) {
  const { query } = useRoute();
  const list = useList<AuditEvent>({
    operation: "audit.listAuditEvents",
    field: "events",
    input,
    from: query.from,
  });
  return <ListTable label="Audit log" list={list} columns={AUDIT_COLUMNS} empty={empty} />;
}
