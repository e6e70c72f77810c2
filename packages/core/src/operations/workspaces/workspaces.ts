import { z } from "zod";
import {
  unwrittenWorkspace,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import { type OperationContext, randomRepeated, transact } from "../context.js";
import { decodeOrNull, readStored } from "../damaged.js";
import { flag, parseInput, text } from "../input.js";
import { operation, type Run, type TableOf } from "../operation.js";

/** Input of setWorkspaceEnabled over HTTP. */
export type SetWorkspaceEnabledInput = {
  /** Whether the workspace is switched on. */
  readonly enabled: boolean;
};

/** A workspace that was created. */
export interface CreatedWorkspace {
  /** `ws_…` */
  readonly workspaceId: string;
}

/** A workspace as it is shown. Without a name it was never given one. */
export interface WorkspaceView {
  /** Id of the workspace. */
  readonly id: string;
  /** For people. */
  readonly name?: string;
  /** Whether it is switched on. */
  readonly enabled: boolean;
}

/** Operations on workspaces: the tenants of a store. */
export interface WorkspaceOperations {
  /**
   * Creates a workspace, switched on, with an id that is new. Work in it with `latchkey.workspace(workspaceId)`.
   *
   * Nothing needs it: every id names a workspace. What it adds is an id that no other tenant has, and a name.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { workspaceId } = await latchkey.createWorkspace({ name: "Northwind" });
   */
  createWorkspace(input?: {
    /** For people: 1 to 256 characters. */
    readonly name?: string | undefined;
  }): Promise<CreatedWorkspace>;
  /**
   * Reads this workspace. One that was never written exists too: switched on, without a name.
   *
   * @throws LatchkeyError `STORE_CORRUPT` where its record is damaged.
   * @example
   * const { id, enabled } = await latchkey.getWorkspace();
   */
  getWorkspace(): Promise<WorkspaceView>;
  /**
   * Whether this workspace is switched on. Authenticating a root key says so, too; this is for callers known in another way.
   *
   * @throws LatchkeyError `STORE_CORRUPT` where its record is damaged.
   * @example
   * if (!(await latchkey.isWorkspaceEnabled())) console.log("switched off");
   */
  isWorkspaceEnabled(): Promise<boolean>;
  /**
   * Switches this workspace on or off. While it is off every verification answers `FORBIDDEN`, and no root key of it
   * authorises anything. Seen by every call that starts after this has resolved.
   *
   * @param enabled - true or false, and nothing that merely looks like one: a kill switch must not guess.
   * @throws LatchkeyError `BAD_REQUEST` for anything else.
   * @example
   * await latchkey.setWorkspaceEnabled(false);
   */
  setWorkspaceEnabled(enabled: boolean): Promise<void>;
}

const setWorkspaceEnabledInput = z.strictObject({ enabled: flag });

const setWorkspaceEnabled: Run<WorkspaceOperations["setWorkspaceEnabled"]> = async (
  context,
  enabled,
) => {
  const parsed = parseInput(setWorkspaceEnabledInput, { enabled });
  const { workspaceId } = context;
  await transact(context, async ({ transaction, audit }) => {
    const address = { kind: "workspace", id: workspaceId } as const;
    const stored = await readStored(transaction, address);
    if (stored === null) transaction.expect({ ...address, version: null });
    // A record that cannot be read must not keep the kill switch from working; only a name is lost.
    const before = stored && decodeOrNull(workspaceType, stored, workspaceId);
    if ((stored === null || before?.enabled) === parsed.enabled) return;
    const workspace = before ?? unwrittenWorkspace(workspaceId);
    transaction.update(workspaceType, workspace, { ...workspace, enabled: parsed.enabled });
    transaction.renewRevision();
    audit({
      type: parsed.enabled ? "workspace.enabled" : "workspace.disabled",
      resourceId: workspaceId,
      unreadable: stored !== null && before === null,
    });
  });
};

export const WORKSPACE_TABLE = {
  createWorkspace: operation(
    z.strictObject({ name: text(1, 256).optional() }),
    async (context, { name = null }) => {
      const newId = () => context.newId("ws");
      // A repeat goes on with the same id: what it finds there is what was made before.
      const workspaceId = (await context.call?.madeOnce(newId)) ?? newId();
      const address = { kind: "workspace", id: workspaceId } as const;
      // In the new workspace, and in its log: it is the one that this is about.
      await transact({ ...context, workspaceId, call: null }, async ({ transaction, audit }) => {
        if ((await transaction.readOne(address)) !== null) {
          if (context.call !== null) return;
          throw randomRepeated("no workspace was created");
        }
        transaction.expect({ ...address, version: null });
        transaction.insert(workspaceType, { id: workspaceId, name, enabled: true, version: 1 });
        transaction.renewRevision();
        const after = { name, enabled: true };
        audit({ type: "workspace.created", resourceId: workspaceId, after });
      });
      return { workspaceId };
    },
    {},
  ),

  getWorkspace: {
    input: null,
    run: async (context) => {
      const { id, name, enabled } = await readWorkspace(context);
      return { id, ...(name !== null && { name }), enabled };
    },
  },

  isWorkspaceEnabled: {
    input: null,
    run: async (context) => (await readWorkspace(context)).enabled,
  },

  setWorkspaceEnabled: { run: setWorkspaceEnabled, input: setWorkspaceEnabledInput },
} satisfies TableOf<WorkspaceOperations>;

async function readWorkspace({ store, workspaceId }: OperationContext): Promise<WorkspaceRecord> {
  const { found } = await store.read(workspaceId, [{ kind: "workspace", id: workspaceId }]);
  const [loaded = null] = found;
  if (loaded === null) return unwrittenWorkspace(workspaceId);
  return workspaceType.decode(loaded.record, workspaceId);
}
