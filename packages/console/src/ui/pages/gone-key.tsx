import { type ApiError, call } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { linkTo } from "../lib/router.js";
import type { AuditEvent } from "../lib/types.js";
import { ApiName } from "../parts/api-name.js";
import { AuditOf } from "../parts/audit-of.js";
import { Fact, Facts, FailedPage, FullInstant, Id, PageHead, Waiting } from "../parts/basics.js";
import { OwnerName } from "../parts/owner-name.js";

/** A missing key: when it was deleted and by whom, as far as the audit log knows. */
export function GoneKey({
  keyId,
  ...failed
}: {
  readonly keyId: string;
  readonly error: ApiError;
  readonly retry: () => void;
}) {
  const { value, error } = useLoad(keyId, () =>
    call<{ events: AuditEvent[] }>("audit.listAuditEvents", { keyId, limit: 100 }),
  );
  if (value === null && error === null) return <Waiting lines={8} />;
  const { events = [] } = value ?? {};
  const deleted = events.find(({ type }) => type === "key.deleted");
  if (deleted === undefined) return <FailedPage title="Key" {...failed} />;
  const { actor, identityId } = deleted;
  // The last value: the first entry is the latest.
  const last = (field: string) => {
    const change = events.flatMap(({ changes }) => changes).find((each) => each.field === field);
    return (change?.after ?? change?.before) as string | undefined;
  };
  const apiId = last("apiId");
  const owner = last("externalId");
  return (
    <>
      <PageHead title={last("name") ?? "Deleted key"} note={<Id id={keyId} />} />
      <section class="verdict bad" aria-label="Verdict">
        <div class="verdict-head">
          <strong class="verdict-title">Deleted</strong> <code>NOT_FOUND</code>{" "}
          <span class="status">guard returns 401</span>
          <p>
            Every request with it has been refused since then. This cannot be undone; create another
            key.
          </p>
        </div>
        <Facts>
          <Fact name="Deleted">
            <FullInstant at={deleted.at} />
          </Fact>
          <Fact name="Deleted by">
            {actor !== undefined && <a href={linkTo(["audit"], { actor })}>{actor}</a>}
          </Fact>
          <Fact name="Owner">
            {owner !== undefined && <OwnerName id={identityId ?? ""} externalId={owner} />}
          </Fact>
          <Fact name="API">{apiId !== undefined && <ApiName apiId={apiId} />}</Fact>
        </Facts>
      </section>
      <AuditOf input={{ keyId }} />
    </>
  );
}
