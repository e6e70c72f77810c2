import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "../open-store.js";
import { runCli } from "../testing/run-cli.js";
import { tempFolder } from "../testing/temp-folder.js";

test.each(["disable", "enable"])(
  "latchkey workspace %s succeeds on an unused workspace, and warns",
  async (act) => {
    const url = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(url) });
    await latchkey.workspace("ws_tides").createApi({ name: "tide-tables" });
    await latchkey.close();
    const args = ["workspace", act, "ws_tydes", "--store", url];
    const { exitCode, stdout, stderr } = await runCli(args);
    expect(stdout).toBe(`workspace ws_tydes is ${act}d\n`);
    expect(stderr).toBe(
      "latchkey: there is nothing in ws_tydes, and it was never switched off or on: check the id\n",
    );
    expect(exitCode).toBe(0);
  },
);
