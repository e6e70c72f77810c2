import { DEFAULT_WORKSPACE_ID } from "@latchkey/core";

/** Options that make a service take the caller's permissions from a header, without root keys. */
export const BY_HEADER = {
  authenticate: (request: Request) => ({
    workspaceId: request.headers.get("x-workspace") ?? DEFAULT_WORKSPACE_ID,
    permissions: JSON.parse(request.headers.get("x-permissions") ?? "[]"),
  }),
};
