import type { z } from "zod";
import type { Operation } from "../operations/operation.js";
import type { PublicError, PublicErrorCode } from "./http-response.js";

/** One version of the HTTP contract: what the paths below `/<version>/` do, and how they refuse. */
export interface Contract {
  readonly version: "v1" | "v2";
  readonly operations: readonly Operation[];
  /** What a reader of its document has to know beyond single operations, in Markdown. */
  readonly introduction: string;
  /** Message about a path that has no operation. */
  readonly unknownPath: string;
  /**
   * Body of an error.
   *
   * @param docs - URL of a page about the code; undefined where the host has none.
   */
  readonly errorBody: (error: PublicError, docs: string | undefined, requestId: string) => object;
  /** Schema of the bodies of errors with these codes. */
  readonly errorSchema: (codes: readonly PublicErrorCode[]) => z.ZodType;
}
