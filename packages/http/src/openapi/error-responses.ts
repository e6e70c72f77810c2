import type { Operation } from "../operations/operation.js";
import type { Contract } from "../routing/contract.js";
import { type PublicErrorCode, STATUS } from "../routing/http-response.js";
import type { Components, JsonSchema } from "./components.js";
import { toJsonSchema } from "./json-schema.js";

/** The meaning of each code, in a sentence. */
export const ERROR_NOTES: Readonly<Record<PublicErrorCode, string>> = {
  BAD_REQUEST: "The input is invalid.",
  UNAUTHORIZED: "No valid root key: missing, unknown, expired, or another kind of key.",
  FORBIDDEN: "The workspace is disabled.",
  INSUFFICIENT_PERMISSIONS: "The message names what is required, never what the root key holds.",
  NOT_FOUND: "No such record in this workspace.",
  METHOD_NOT_ALLOWED: "`Allow` names the right verb.",
  CONFLICT:
    "It already exists, was used or rotated before, was settled with other figures, or the record kept changing.",
  PRECONDITION_FAILED: "The state does not allow it; nothing was written.",
  DELETE_PROTECTED: "The API is protected.",
  PAYLOAD_TOO_LARGE: "The body is too long.",
  UNSUPPORTED_MEDIA_TYPE: "The body has another media type, is not in UTF-8, or is compressed.",
  RATE_LIMITED: "Too many requests.",
  INTERNAL_SERVER_ERROR: "Something went wrong on the server.",
  STORE_UNAVAILABLE:
    "The store is unavailable; the message says whether a change may have been made.",
};

const FURTHER_HEADERS: Readonly<Partial<Record<PublicErrorCode, string>>> = {
  UNAUTHORIZED: "WWW-Authenticate",
  STORE_UNAVAILABLE: "Retry-After",
};

/** Every code that an operation can return, if path and verb are right. */
export function errorCodesOf({ method, isPublic, errors }: Operation): readonly PublicErrorCode[] {
  const always: PublicErrorCode[] = ["BAD_REQUEST", "INTERNAL_SERVER_ERROR"];
  const withCaller: PublicErrorCode[] = [
    "UNAUTHORIZED",
    "FORBIDDEN",
    "INSUFFICIENT_PERMISSIONS",
    "STORE_UNAVAILABLE",
  ];
  const withBody: PublicErrorCode[] = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];
  const codes = new Set([
    ...always,
    ...(isPublic === true ? [] : withCaller),
    ...(method === "POST" ? withBody : []),
    ...errors,
  ]);
  return [...codes].sort((one, other) => STATUS[one] - STATUS[other]);
}

/** The error responses of an operation, by status. Each is added to `responses`, which operations share, and its body to `components`. */
export function errorResponses(
  contract: Contract,
  operation: Operation,
  components: Components,
  responses: Components,
): JsonSchema {
  const all = errorCodesOf(operation);
  const statuses = [...new Set(all.map((code) => STATUS[code]))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = all.filter((code) => STATUS[code] === status);
      const name = codes.map(inPascalCase).join("Or");
      if (!responses.has(name)) {
        const schema = toJsonSchema(contract.errorSchema(codes), "output", components);
        components.set(`${name}Error`, schema);
        responses.set(name, errorResponse(codes, { $ref: `#/components/schemas/${name}Error` }));
      }
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function errorResponse(codes: readonly PublicErrorCode[], schema: JsonSchema): JsonSchema {
  const headers = codes.flatMap((code) => FURTHER_HEADERS[code] ?? []);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_NOTES[code]}`).join(" "),
    headers: {
      "X-Request-Id": { $ref: "#/components/headers/RequestId" },
      ...Object.fromEntries(headers.map((name) => [name, { schema: { type: "string" } }])),
    },
    content: { "application/json": { schema } },
  };
}

function inPascalCase(code: PublicErrorCode): string {
  return code
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");
}
