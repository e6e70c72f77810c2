import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists } from "../lib/list.js";
import { type Loaded, useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { useRoute } from "../lib/router.js";
import { mergedNames } from "../lib/rule-changes.js";
import type { Permission, Role } from "../lib/types.js";
import { Empty, Failure, Names, PageHead, Waiting } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";
import { namesOf, TextField, textOf } from "../parts/fields.js";
import { PlainTable } from "../parts/plain-table.js";
import type { Column } from "../parts/table.js";
import { Tabs } from "../parts/tabs.js";

type Open =
  | { readonly kind: "create-role" | "create-permission" }
  | { readonly kind: "edit-role" | "delete-role"; readonly role: Role }
  | { readonly kind: "delete-permission"; readonly permission: Permission };

const nameCell = ({ id, name }: Role | Permission) => (
  <code class="name" title={id}>
    {name}
  </code>
);

const ROLE_COLUMNS: readonly Column<Role>[] = [
  { title: "Role", cell: nameCell },
  { title: "Permissions", cell: ({ permissions }) => <Names names={permissions} /> },
  { title: "Description", cell: ({ description }) => description, isOptional: true },
];

const PERMISSION_COLUMNS: readonly Column<Permission>[] = [
  { title: "Permission", cell: nameCell },
  { title: "Description", cell: ({ description }) => description },
];

/** Roles and permissions. */
export function RolesPage() {
  const allowed = useAllowed();
  const { query } = useRoute();
  const [open, setOpen] = useState<Open | null>(null);
  const canRoles = allowed.can("rbac", "read_role");
  const canPermissions = allowed.can("rbac", "read_permission");
  const tab = query.tab ?? (canRoles ? "roles" : "permissions");
  const roles = useLoad(`roles ${canRoles}`, async () =>
    canRoles ? call<Role[]>("permissions.listRoles") : [],
  );
  const permissions = useLoad(`permissions ${canPermissions}`, async () =>
    canPermissions ? call<Permission[]>("permissions.listPermissions") : [],
  );
  const isRoles = tab === "roles";
  const mayCreate = allowed.can("rbac", isRoles ? "create_role" : "create_permission");
  return (
    <>
      <PageHead
        title="Roles and permissions"
        note="A key has permissions directly and through its roles. Your program defines what each route requires."
      >
        {mayCreate && (
          <button
            type="button"
            class="primary"
            onClick={() => setOpen({ kind: isRoles ? "create-role" : "create-permission" })}
          >
            {isRoles ? "Create role" : "Create permission"}
          </button>
        )}
      </PageHead>
      <Tabs
        tabs={[
          ...(canRoles ? [["roles", "Roles"] as const] : []),
          ...(canPermissions ? [["permissions", "Permissions"] as const] : []),
        ]}
      />
      {isRoles ? (
        <Roles roles={roles} onOpen={setOpen} />
      ) : (
        <Permissions permissions={permissions} onOpen={setOpen} />
      )}
      {open !== null && (
        <OpenDialog
          open={open}
          onClose={() => setOpen(null)}
          onDone={() => {
            forgetLists();
            roles.reload();
            permissions.reload();
          }}
        />
      )}
    </>
  );
}

function Roles({
  roles,
  onOpen,
}: {
  readonly roles: Loaded<Role[]>;
  readonly onOpen: (open: Open) => void;
}) {
  const allowed = useAllowed();
  const canEdit =
    allowed.can("rbac", "add_permission_to_role") &&
    allowed.can("rbac", "remove_permission_from_role");
  if (roles.error !== null) return <Failure error={roles.error} retry={roles.reload} />;
  if (roles.value === null) return <Waiting lines={6} />;
  if (roles.value.length === 0)
    return (
      <Empty title="No roles yet">
        <p>A role is a named set of permissions, such as editor.</p>
      </Empty>
    );
  return (
    <PlainTable
      columns={ROLE_COLUMNS}
      items={roles.value}
      idOf={({ id }) => id}
      actions={(role) => (
        <>
          {canEdit && (
            <button
              type="button"
              onClick={() => onOpen({ kind: "edit-role", role })}
              aria-label={`Edit ${role.name}`}
            >
              Edit
            </button>
          )}
          {allowed.can("rbac", "delete_role") && (
            <DeleteButton name={role.name} onClick={() => onOpen({ kind: "delete-role", role })} />
          )}
        </>
      )}
    />
  );
}

function Permissions({
  permissions,
  onOpen,
}: {
  readonly permissions: Loaded<Permission[]>;
  readonly onOpen: (open: Open) => void;
}) {
  const allowed = useAllowed();
  if (permissions.error !== null)
    return <Failure error={permissions.error} retry={permissions.reload} />;
  if (permissions.value === null) return <Waiting lines={6} />;
  if (permissions.value.length === 0)
    return (
      <Empty title="No permissions yet">
        <p>A permission is a name that a route requires, such as docs.read.</p>
      </Empty>
    );
  return (
    <PlainTable
      columns={PERMISSION_COLUMNS}
      items={permissions.value}
      idOf={({ id }) => id}
      actions={(permission) =>
        allowed.can("rbac", "delete_permission") && (
          <DeleteButton
            name={permission.name}
            onClick={() => onOpen({ kind: "delete-permission", permission })}
          />
        )
      }
    />
  );
}

function DeleteButton({ name, onClick }: { readonly name: string; readonly onClick: () => void }) {
  return (
    <button type="button" onClick={onClick} aria-label={`Delete ${name}`}>
      Delete
    </button>
  );
}

function OpenDialog({
  open,
  onClose,
  onDone,
}: {
  readonly open: Open;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const doing = (work: (form: FormData) => Promise<unknown>) => async (form: FormData) => {
    await work(form);
    onDone();
  };
  switch (open.kind) {
    case "create-role":
    case "create-permission": {
      const isRole = open.kind === "create-role";
      const what = isRole ? "role" : "permission";
      return (
        <Confirm
          title={`Create ${what}`}
          submit={`Create ${what}`}
          isDangerous={false}
          onClose={onClose}
          action={doing((form) =>
            call(isRole ? "permissions.createRole" : "permissions.createPermission", {
              name: textOf(form, "name") ?? "",
              description: textOf(form, "description"),
              ...(isRole && { permissions: namesOf(form, "permissions") }),
            }),
          )}
        >
          <TextField
            label="Name"
            name="name"
            required
            autofocus
            isWide
            placeholder={isRole ? "editor" : "docs.read"}
          />
          <TextField label="Description" name="description" isWide />
          {isRole && (
            <TextField
              label="Permissions"
              name="permissions"
              isWide
              hint="Separate names with commas. They must already exist."
            />
          )}
        </Confirm>
      );
    }
    case "edit-role":
      return (
        <Confirm
          title={`Permissions of ${open.role.name}`}
          submit="Save"
          isDangerous={false}
          onClose={onClose}
          action={doing(async (form) => {
            const roleId = open.role.id;
            const now = await call<Role>("permissions.getRole", { roleId });
            const typed = namesOf(form, "permissions") ?? [];
            const permissions = mergedNames(open.role.permissions, typed, now.permissions);
            await call("permissions.setRolePermissions", { roleId, permissions });
          })}
        >
          <p>The change applies to every key with this role, from its next verification on.</p>
          <TextField
            label="Permissions"
            name="permissions"
            isWide
            defaultValue={open.role.permissions.join(", ")}
            hint="Separate names with commas. They must already exist."
          />
        </Confirm>
      );
    case "delete-role":
      return (
        <Confirm
          title={`Delete ${open.role.name}?`}
          submit="Delete role"
          onClose={onClose}
          action={doing(() => call("permissions.deleteRole", { roleId: open.role.id }))}
        >
          <p>
            Every key with this role loses the permissions that it grants. This cannot be undone.
          </p>
        </Confirm>
      );
    case "delete-permission":
      return (
        <Confirm
          title={`Delete ${open.permission.name}?`}
          submit="Delete permission"
          onClose={onClose}
          action={doing(() =>
            call("permissions.deletePermission", { permissionId: open.permission.id }),
          )}
        >
          <p>It is removed from every key and every role. This cannot be undone.</p>
        </Confirm>
      );
    default:
      return open satisfies never;
  }
}
