import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";

/** Which API is meant. */
export type ApiReference = {
  /** Id of the API. */
  readonly apiId: string;
};

/** An API that was created. */
export interface CreatedApi {
  /** `api_…` */
  readonly apiId: string;
}

/** An API that is there, made by this call or before. */
export interface EnsuredApi extends CreatedApi {
  /** Whether this call made it. */
  readonly created: boolean;
}

/** An API as it is shown. Fields without a value are absent. */
export interface ApiView {
  /** `api_…` */
  readonly id: string;
  /** What it is called. */
  readonly name: string;
  /** Id of the workspace. */
  readonly workspaceId: string;
  /** Present while the API is kept from being deleted. */
  readonly deleteProtection?: true;
  /** Addresses and CIDR ranges that its keys may be used from, in their one form; absent where that is anywhere. */
  readonly ipWhitelist?: readonly string[];
}

/** A page of APIs in the order of their creation; without `cursor` it is the last one. */
export interface ApiList extends PageInfo {
  /** In the order of their creation. */
  readonly apis: readonly ApiView[];
  /** Exact number of APIs of the workspace. */
  readonly total: number;
}

/** Operations on APIs: the key spaces of a workspace. */
export interface ApiOperations {
  /**
   * Creates an API, which keys are then created in.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { apiId } = await latchkey.createApi({ name: "payments" });
   */
  createApi(input: {
    /** What it is called: 3 to 256 characters. */
    readonly name: string;
    /** Whether it is kept from being deleted: false unless given. */
    readonly deleteProtection?: boolean | undefined;
    /** Addresses and CIDR ranges that its keys may be used from, at most 1,000; from anywhere if empty, which it is unless given. */
    readonly ipWhitelist?: readonly string[] | undefined;
  }): Promise<CreatedApi>;
  /**
   * The API of a name, for programs that set up what they need and may run again: it is created where there is none. Where
   * several have the name, because createApi made more of them, it is the oldest; and the same from then on, in every process,
   * until it is deleted or has another name. Of calls at the same moment one creates, and all answer the same API.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { apiId } = await latchkey.ensureApi({ name: "payments" });
   */
  ensureApi(input: {
    /** What it is called: 3 to 256 characters. */
    readonly name: string;
  }): Promise<EnsuredApi>;
  /**
   * Reads an API.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * const { name } = await latchkey.getApi({ apiId });
   */
  getApi(input: ApiReference): Promise<ApiView>;
  /**
   * Lists the APIs of the workspace, a page at a time; `apis()` of a latchkey goes through all of them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { apis, total, cursor } = await latchkey.listApis({ limit: 20 });
   */
  listApis(input?: PageInput): Promise<ApiList>;
  /**
   * Changes an API. The next verification of any of its keys, from any process, sees it.
   *
   * @param input - What is omitted stays.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
   * @example
   * await latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] });
   */
  updateApi(
    input: ApiReference & {
      /** What it is called: 3 to 256 characters. */
      readonly name?: string | undefined;
      /** Whether it is kept from being deleted. */
      readonly deleteProtection?: boolean | undefined;
      /** The whole list of addresses and CIDR ranges, at most 1,000. An empty list or null: from anywhere. */
      readonly ipWhitelist?: readonly string[] | null | undefined;
    },
  ): Promise<Record<string, never>>;
  /**
   * Deletes an API. Its keys stop verifying with the first, short step, however many there are; they are then removed in
   * bounded steps, and the call resolves when all are gone. Should it fail on the way, what is left of them is dead all the
   * same, and calling again removes it. An API whose record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API, `DELETE_PROTECTED`; nothing is deleted then.
   * @example
   * await latchkey.deleteApi({ apiId });
   */
  deleteApi(input: ApiReference): Promise<Record<string, never>>;
}
