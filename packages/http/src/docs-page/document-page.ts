import { documentOf } from "../openapi/document.js";
import type { Contract } from "../routing/contract.js";
import { once } from "../routing/once.js";
import type { Page } from "./page.js";

/** The document of a contract that is mounted on this path. */
export function documentPage(contract: Contract, basePath: string): Page {
  return {
    name: "openapi.json",
    method: "GET",
    content: once(async () => ({
      body: new TextEncoder().encode(JSON.stringify(documentOf(contract, basePath))),
      headers: {},
    })),
  };
}
