import type { Latchkey } from "@latchkey/core";
import type { HostCaller } from "@latchkey/http";
import { readJsonObject } from "@latchkey/http/pages";
import type { ConsoleOptions } from "./options.js";

/** A task for operators with `*`, if the host allows it. No root key can do it over HTTP. */
export interface OperatorTask {
  readonly method: "GET" | "POST";
  /** The workspace whose operators can do it. */
  readonly workspaceId: string;
  readonly run: (request: Request) => Promise<unknown>;
}

/** Maximum number of findings shown: a badly damaged store would fill any page. */
const MAX_FINDINGS = 200;

/** The tasks that the options allow, by name in the path. */
export function operatorTasks(
  latchkey: Latchkey,
  { examine, webhooks }: ConsoleOptions,
): ReadonlyMap<string, OperatorTask> {
  const tasks = new Map<string, OperatorTask>();
  const { workspaceId } = latchkey;
  if (examine !== undefined)
    // The findings are of all workspaces, and must not reach operators of a customer's workspace.
    tasks.set("store.examine", {
      method: "GET",
      workspaceId,
      run: async () => {
        const findings = [];
        for await (const finding of examine()) {
          findings.push(finding);
          if (findings.length === MAX_FINDINGS) return { findings, more: true };
        }
        return { findings };
      },
    });
  if (webhooks !== undefined) {
    tasks.set("webhooks.listDeadLetters", {
      method: "GET",
      workspaceId,
      run: (request) => webhooks.listDeadLetters({ limit: 50, cursor: cursorOf(request) }),
    });
    tasks.set("webhooks.redeliver", {
      method: "POST",
      workspaceId,
      run: async (request) => {
        await webhooks.redeliver(await inputOf(request));
        return {};
      },
    });
  }
  return tasks;
}

/** Whether an operator can do a task. */
export function isTaskOf({ permissions, workspaceId }: HostCaller, task: OperatorTask): boolean {
  return permissions.includes("*") && task.workspaceId === workspaceId;
}

function cursorOf({ url }: Request): string | undefined {
  return new URL(url).searchParams.get("cursor") ?? undefined;
}

/** The body of a request. Core checks its contents. */
async function inputOf<Input>(request: Request): Promise<Input> {
  return (await readJsonObject(request)) as Input;
}
