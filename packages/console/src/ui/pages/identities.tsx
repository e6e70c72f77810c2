import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists, useList } from "../lib/list.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo, useRoute } from "../lib/router.js";
import type { Identity } from "../lib/types.js";
import { figure, perSpan } from "../lib/words.js";
import { Empty, PageHead } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";
import { AreaField, objectOf, TextField, textOf } from "../parts/fields.js";
import { ClearLink, FilterForm } from "../parts/filter-form.js";
import { type Column, ListTable } from "../parts/table.js";

type ListedIdentity = Pick<Identity, "id" | "externalId" | "ratelimits">;

const COLUMNS: readonly Column<ListedIdentity>[] = [
  {
    title: "Owner",
    cell: ({ id, externalId }) => (
      <a class="row-link cut" href={linkTo(["identities", id])}>
        {externalId}
      </a>
    ),
  },
  { title: "Id", cell: ({ id }) => <code class="cut">{id}</code>, isOptional: true },
  {
    title: "Shared limits",
    cell: ({ ratelimits }) =>
      ratelimits.length === 0 ? (
        <span class="faint">none</span>
      ) : (
        <span class="cut">
          {ratelimits
            .map(({ name, limit, duration }) => `${name}: ${figure(limit)} ${perSpan(duration)}`)
            .join(", ")}
        </span>
      ),
    isOptional: true,
  },
];

const FILTERS = ["externalIdContains"];

/** The owners of keys. */
export function IdentitiesPage() {
  const allowed = useAllowed();
  const { query } = useRoute();
  const { externalIdContains } = query;
  const [isCreating, setIsCreating] = useState(false);
  const list = useList<ListedIdentity>({
    operation: "identities.listIdentities",
    field: "identities",
    input: { externalIdContains },
    from: query.from,
  });
  return (
    <>
      <PageHead
        title="Owners"
        note="The users or organisations (identities) that keys belong to, by your own ids."
      >
        {allowed.can("identity", "create_identity") && (
          <button type="button" class="primary" onClick={() => setIsCreating(true)}>
            Create owner
          </button>
        )}
      </PageHead>
      <FilterForm
        names={FILTERS}
        read={(form) => ({ externalIdContains: textOf(form, "externalIdContains") })}
      >
        <TextField
          label="Owner contains"
          name="externalIdContains"
          placeholder="user_1"
          maxLength={255}
          defaultValue={externalIdContains ?? ""}
        />
      </FilterForm>
      <ListTable
        label="Owners"
        list={list}
        columns={COLUMNS}
        empty={
          externalIdContains ? (
            <Empty title="No matching owners">
              <p>
                No id contains this text. <ClearLink names={FILTERS}>Clear the filter</ClearLink> to
                see all owners.
              </p>
            </Empty>
          ) : (
            <Empty title="No owners yet">
              <p>An owner is created with its first key. You can also create one here.</p>
            </Empty>
          )
        }
      />
      {isCreating && (
        <Confirm
          title="Create owner"
          submit="Create owner"
          isDangerous={false}
          onClose={() => setIsCreating(false)}
          action={async (form) => {
            const { identityId } = await call<{ identityId: string }>("identities.createIdentity", {
              externalId: textOf(form, "externalId") ?? "",
              meta: objectOf(form, "meta", "Metadata"),
            });
            forgetLists();
            go(linkTo(["identities", identityId]));
          }}
        >
          <TextField
            label="Your own id"
            name="externalId"
            required
            autofocus
            isWide
            placeholder="user_1"
          />
          <AreaField label="Metadata" name="meta" hint='A JSON object, such as {"plan":"pro"}.' />
        </Confirm>
      )}
    </>
  );
}
