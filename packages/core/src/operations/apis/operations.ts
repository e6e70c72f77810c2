import type { CreateApiInput, CreatedApi } from "./create-api.js";
import type { DeleteApiInput } from "./delete-api.js";
import type { GetApiInput } from "./get-api.js";
import type { ApiList, ListApisInput } from "./list-apis.js";
import type { UpdateApiInput } from "./update-api.js";
import type { ApiView } from "./view.js";

/** Operations on APIs: the key spaces of a workspace. */
export interface ApiOperations {
  /**
   * Creates an API, which keys are then created in.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { apiId } = await latchkey.createApi({ name: "payments" });
   */
  createApi(input: CreateApiInput): Promise<CreatedApi>;
  /**
   * Reads an API.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * const { name } = await latchkey.getApi({ apiId });
   */
  getApi(input: GetApiInput): Promise<ApiView>;
  /**
   * Lists the APIs of the workspace, a page at a time; `apis()` of a latchkey goes through all of them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { apis, total, cursor } = await latchkey.listApis({ limit: 20 });
   */
  listApis(input?: ListApisInput): Promise<ApiList>;
  /**
   * Changes an API. The next verification of any of its keys, from any process, sees it.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * await latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] });
   */
  updateApi(input: UpdateApiInput): Promise<Record<string, never>>;
  /**
   * Deletes an API. Its keys stop verifying with the first, short step, however many there are; they are then removed in
   * bounded steps, and the call resolves when all are gone. Should it fail on the way, what is left of them is dead all the
   * same, and calling again removes it. An API whose record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API, `DELETE_PROTECTED`; nothing is deleted then.
   * @example
   * await latchkey.deleteApi({ apiId });
   */
  deleteApi(input: DeleteApiInput): Promise<Record<string, never>>;
}
