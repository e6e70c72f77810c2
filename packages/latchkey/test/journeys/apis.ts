import { expect } from "vitest";
import { expectRefused } from "../test-context.js";
import type { Journey } from "./journey.js";

const imported = (at: number) => `sk_live_${String(at).padStart(32, "0")}`;

/** createApi, getApi, listApis, updateApi, deleteApi. */
export const APIS: Journey = {
  resource: "APIs",
  title:
    "are made, shown, listed, protected, restricted by address, and deleted with all their keys",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const gates = await latchkey.createApi({ name: "harbour gates" });
    await expectRefused("BAD_REQUEST", [latchkey.createApi({ name: "" })]);
    expect(await other.getApi({ apiId })).toMatchObject({ id: apiId, name: "tide tables" });
    const first = await latchkey.listApis({ limit: 1 });
    expect(first).toMatchObject({ apis: [{ id: apiId }], total: 2 });
    const second = await other.listApis({ limit: 1, cursor: first.cursor as string });
    expect(second).toMatchObject({ apis: [{ id: gates.apiId }], total: 2 });
    expect(second).not.toHaveProperty("cursor");
    await expectRefused("BAD_REQUEST", [latchkey.listApis({ cursor: "damaged" })]);

    const { key } = await latchkey.createKey({ apiId });
    expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
    await Promise.all([
      latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] }),
      other.updateApi({ apiId, deleteProtection: true }),
      latchkey.updateApi({ apiId, name: "tides" }),
    ]);
    expect(await other.getApi({ apiId })).toMatchObject({
      name: "tides",
      ipWhitelist: ["192.0.2.0/24"],
      deleteProtection: true,
    });
    expect(await other.verifyKey({ key, ipAddress: "192.0.2.7" })).toMatchObject({ valid: true });
    expect(await other.verifyKey({ key, ipAddress: "192.0.3.7" })).toMatchObject({
      code: "FORBIDDEN",
    });

    await expectRefused("DELETE_PROTECTED", [other.deleteApi({ apiId })]);
    // More than fit into one step.
    for (let page = 0; page < 3; page += 1) {
      const rows = Array.from({ length: 100 }, (_, at) => ({
        apiId,
        plaintext: imported(100 * page + at),
      }));
      await latchkey.createKeys(rows);
    }
    expect(await other.verifyKey({ key: imported(299) })).toMatchObject({ code: "FORBIDDEN" });
    expect(await other.listKeys({ apiId })).toMatchObject({ total: 301 });

    await latchkey.updateApi({ apiId, deleteProtection: false, ipWhitelist: null });
    await other.deleteApi({ apiId });
    for (const gone of [key, imported(0), imported(299)])
      expect(await latchkey.verifyKey({ key: gone })).toEqual({ valid: false, code: "NOT_FOUND" });
    expect(await latchkey.listApis()).toMatchObject({ apis: [{ id: gates.apiId }], total: 1 });
    const elsewhere = latchkey.workspace("ws_other");
    await expectRefused("NOT_FOUND", [
      latchkey.getApi({ apiId }),
      latchkey.updateApi({ apiId, name: "back" }),
      latchkey.deleteApi({ apiId }),
      elsewhere.getApi(gates),
      elsewhere.deleteApi(gates),
    ]);
  },
};
