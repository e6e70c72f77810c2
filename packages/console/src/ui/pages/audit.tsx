import { ApiError, call } from "../lib/api.js";
import { isId } from "../lib/key-start.js";
import type { List } from "../lib/list.js";
import { useLoad } from "../lib/load.js";
import { go, useRoute, withQuery } from "../lib/router.js";
import type { AuditEvent, Identity } from "../lib/types.js";
import { AUDIT_COLUMNS } from "../parts/audit-list.js";
import { AuditOf } from "../parts/audit-of.js";
import { Empty, Failure, PageHead, Waiting } from "../parts/basics.js";
import { TextField, textOf } from "../parts/fields.js";
import { ClearLink, FilterForm } from "../parts/filter-form.js";
import { ListTable } from "../parts/table.js";

const FILTERS = ["actor", "keyId", "identityId"] as const;
const EVERY_MS = 2_000;

/** Every change, the latest first. */
export function AuditPage() {
  const { query } = useRoute();
  const given = FILTERS.filter((name) => query[name]);
  const owner = useOwner(query.identityId);
  const filters = Object.fromEntries(given.map((name) => [name, query[name]]));
  const input = {
    ...filters,
    ...(query.identityId && { identityId: owner.value?.id ?? undefined }),
  };
  const isFollowing = query.follow === "1";
  return (
    <>
      <PageHead
        title="Audit log"
        note="Every change: what was changed, and by whom. Secrets are never recorded."
      >
        <button
          type="button"
          aria-pressed={isFollowing}
          onClick={() =>
            go(withQuery({ follow: isFollowing ? undefined : "1", from: undefined }), "replace")
          }
        >
          {isFollowing ? "Following" : "Follow"}
        </button>
      </PageHead>
      <FilterForm
        names={FILTERS}
        read={(form) => Object.fromEntries(FILTERS.map((name) => [name, textOf(form, name)]))}
      >
        <TextField
          label="Actor"
          name="actor"
          placeholder="alice"
          defaultValue={query.actor ?? ""}
        />
        <TextField label="Key" name="keyId" placeholder="key_…" defaultValue={query.keyId ?? ""} />
        <TextField
          label="Owner"
          name="identityId"
          placeholder="user_1 or id_…"
          defaultValue={query.identityId ?? ""}
        />
      </FilterForm>
      {owner.error !== null ? (
        <Failure error={owner.error} retry={owner.reload} />
      ) : owner.value === null ? (
        <Waiting lines={6} />
      ) : owner.value.id === null ? (
        <Empty title="No owner has this id">
          <p>If the owner was deleted, use its id_… instead: the entries of its keys contain it.</p>
        </Empty>
      ) : isFollowing ? (
        <Followed input={input} />
      ) : (
        <AuditOf input={input} empty={nothing(input)} />
      )}
    </>
  );
}

/** The id of an owner, who may be given by the host's own id; null if no owner has that id. */
function useOwner(named = "") {
  return useLoad(`owner ${named}`, async (): Promise<{ readonly id: string | null }> => {
    if (named === "" || isId(named)) return { id: named };
    try {
      return await call<Identity>("identities.getIdentity", { externalId: named });
    } catch (error) {
      if (error instanceof ApiError && error.code === "NOT_FOUND") return { id: null };
      throw error;
    }
  });
}

type Input = Readonly<Record<string, string | undefined>>;

function nothing(input: Input) {
  if (Object.keys(input).length > 0)
    return (
      <Empty title="No matching entries">
        <p>
          <ClearLink names={FILTERS}>Clear the filters</ClearLink> to see all entries.
        </p>
      </Empty>
    );
  return (
    <Empty title="No entries">
      <p>
        Entries appear once something is changed. To delete old entries, run “latchkey audit prune”.
      </p>
    </Empty>
  );
}

/** The latest entries, reloaded continuously. */
function Followed({ input }: { readonly input: Input }) {
  const { value, error, reload } = useLoad(
    JSON.stringify(input),
    () => call<{ events: AuditEvent[] }>("audit.listAuditEvents", { ...input, limit: 100 }),
    EVERY_MS,
  );
  if (error !== null && value === null) return <Failure error={error} retry={reload} />;
  if (value === null) return <Waiting lines={6} />;
  const list: List<AuditEvent> = {
    items: value.events,
    total: null,
    pages: [],
    next: null,
    isReading: false,
    isDone: true,
    damaged: 0,
    scanned: null,
    emptyPages: 0,
    error,
    readMore: reload,
    scroll: { top: 0 },
  };
  return (
    <ListTable
      label="Audit log, followed"
      list={list}
      columns={AUDIT_COLUMNS}
      empty={nothing(input)}
    />
  );
}
