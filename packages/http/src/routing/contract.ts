import type { z } from "zod";
import type { Operation } from "../operations/operation.js";
import type { PublicError, PublicErrorCode } from "./http-response.js";

/** One version of the HTTP contract: the operations below `/<version>/`, and the format of their errors. */
export interface Contract {
  readonly version: "v1" | "v2";
  readonly operations: readonly Operation[];
  /** Introduction of the OpenAPI document, in Markdown: what applies to all operations. */
  readonly introduction: string;
  /** Message for a path without an operation. */
  readonly unknownPath: string;
  /**
   * Body of an error.
   *
   * @param docs - URL of a page about the code; undefined if the host has none.
   */
  readonly errorBody: (error: PublicError, docs: string | undefined, requestId: string) => object;
  /** Schema of error bodies with these codes. */
  readonly errorSchema: (codes: readonly PublicErrorCode[]) => z.ZodType;
}
