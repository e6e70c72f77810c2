import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "../src/open-store.js";
import { cliStore } from "../src/testing/cli-store.js";
import { wrapped } from "./wrapped-store.js";

/** More than are deleted in one step. */
const KEYS = 45;

test.each([1, 2, 3])(
  "apis delete, killed after %i writes, is finished by the same command, although the name is gone",
  async (survived) => {
    const { run, json, url } = cliStore();
    await json("apis create --name tides");
    const [api] = await json("apis create --name payments");
    const store = openStore(url);
    const latchkey = createLatchkey({ store });
    const apiId = api?.apiId ?? "";
    for (let made = 0; made < KEYS; made += 1) await latchkey.createKey({ apiId });
    let writes = 0;
    const dying = wrapped(store, {
      commit: async (...given) => {
        writes += 1;
        if (writes > survived) throw new Error("killed");
        return store.commit(...given);
      },
    });
    const killed = createLatchkey({ store: dying }).actingAs("cli");
    await expect(killed.deleteApi({ apiId })).rejects.toThrow("killed");
    await latchkey.close();
    expect(await run("apis delete payments")).toEqual({
      exitCode: 0,
      stdout: `API ${apiId} and its keys are deleted\n`,
      stderr: "",
    });
    expect((await run("events read --types key.deleted")).stdout.match(/\n/g)).toHaveLength(KEYS);
    expect(await run("apis delete payments")).toMatchObject({
      exitCode: 1,
      stderr: "latchkey: no such API\n",
    });
    expect(await json("apis list")).toMatchObject([{ name: "tides" }]);
  },
);
