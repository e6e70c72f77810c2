import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists, useList, wholeList } from "../lib/list.js";
import { useLoad } from "../lib/load.js";
import { unlessGone } from "../lib/owned-keys.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo, useRoute } from "../lib/router.js";
import type { Api } from "../lib/types.js";
import { figure } from "../lib/words.js";
import { Badge, Empty, Failure, PageHead, Waiting } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";
import { SwitchField, TextField, textOf } from "../parts/fields.js";
import { type Column, ListTable } from "../parts/table.js";

const COLUMNS: readonly Column<Api>[] = [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <a class="row-link cut" href={linkTo(["apis", id])}>
        {name}
      </a>
    ),
  },
  { title: "Id", cell: ({ id }) => <code class="cut">{id}</code>, isOptional: true },
  { title: "Keys", cell: ({ id }) => <KeyCount apiId={id} />, isNumber: true, width: "6rem" },
  {
    title: "Restrictions",
    cell: ({ deleteProtection, ipWhitelist, ceilings }) => (
      <>
        {deleteProtection && <Badge tone="plain">protected</Badge>}
        {ipWhitelist !== undefined && <Badge tone="plain">allow-list</Badge>}
        {ceilings !== undefined && <Badge tone="plain">ceilings</Badge>}
        {!deleteProtection && !ipWhitelist && !ceilings && <span class="faint">none</span>}
      </>
    ),
    isOptional: true,
    width: "12rem",
  },
];

/** All APIs. */
export function ApisPage() {
  const allowed = useAllowed();
  const { query } = useRoute();
  const [isCreating, setIsCreating] = useState(false);
  const canList = allowed.can("api", "read_api");
  return (
    <>
      <PageHead title="APIs" note="Every key belongs to an API. Open one to see its keys.">
        {allowed.can("api", "create_api") && (
          <button type="button" class="primary" onClick={() => setIsCreating(true)}>
            Create API
          </button>
        )}
      </PageHead>
      {canList ? (
        <AllApis from={query.from} />
      ) : (
        <NamedApis ids={allowed.idsOf("api", "read_api")} />
      )}
      {isCreating && <CreateApi onClose={() => setIsCreating(false)} />}
    </>
  );
}

function AllApis({ from }: { readonly from: string | undefined }) {
  const list = useList<Api>({ operation: "apis.listApis", field: "apis", input: {}, from });
  return <ListTable label="APIs" list={list} columns={COLUMNS} empty={<NoApis />} />;
}

function NoApis() {
  return (
    <Empty title="No APIs yet">
      <p>
        An API is a group of keys, such as those of one of your products. Create one, then create
        keys in it.
      </p>
    </Empty>
  );
}

/** The APIs that the permissions of the root key name. It may not list the others. */
function NamedApis({ ids }: { readonly ids: readonly string[] }) {
  const { value, error, reload } = useLoad(ids.join(), () =>
    Promise.all(ids.map((apiId) => unlessGone(call<Api>("apis.getApi", { apiId })))),
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <Waiting />;
  const list = wholeList(value.filter((api) => api !== null));
  return <ListTable label="APIs" list={list} columns={COLUMNS} empty={<NoApis />} />;
}

function KeyCount({ apiId }: { readonly apiId: string }) {
  const allowed = useAllowed();
  const mayRead = allowed.can("api", "read_key", apiId);
  const { value } = useLoad(apiId, async () =>
    mayRead ? call<{ total: number }>("apis.listKeys", { apiId, limit: 1 }) : null,
  );
  return <>{value === null ? "" : figure(value.total)}</>;
}

function CreateApi({ onClose }: { readonly onClose: () => void }) {
  return (
    <Confirm
      title="Create API"
      submit="Create API"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const { apiId } = await call<{ apiId: string }>("apis.createApi", {
          name: textOf(form, "name") ?? "",
          ...(form.has("deleteProtection") && { deleteProtection: true }),
        });
        forgetLists();
        go(linkTo(["apis", apiId]));
      }}
    >
      <TextField label="Name" name="name" required minLength={3} maxLength={256} autofocus isWide />
      <SwitchField label="Deletion protection" name="deleteProtection" />
    </Confirm>
  );
}
