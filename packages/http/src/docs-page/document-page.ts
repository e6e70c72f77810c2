import { documentOf } from "../openapi/document.js";
import type { Contract } from "../routing/contract.js";
import { once } from "../routing/once.js";
import type { Page } from "./page.js";

/** The page with the OpenAPI document of a contract. `basePath`: the path that the contract is mounted on. */
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
