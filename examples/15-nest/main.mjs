import "reflect-metadata";
import { createGuard, VerifiedKey } from "@latchkey/guard/nest";
import { Controller, Get, Module, Param, UseGuards } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4115" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

class TilesController {
  /** @param {string} zoom @param {import("@latchkey/guard").ApiKey} apiKey */
  tile(zoom, apiKey) {
    return { zoom, keyId: apiKey.keyId, usesLeft: apiKey.remaining };
  }
}

// Node.js cannot run decorators, so they are called as functions here. The README shows them in TypeScript.
const { prototype } = TilesController;
const tile = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(prototype, "tile"));
Controller("tiles")(TilesController);
Get(":zoom")(prototype, "tile", tile);
UseGuards(guard({ permissions: "tiles.read" }))(prototype, "tile", tile);
Param("zoom")(prototype, "tile", 0);
VerifiedKey()(prototype, "tile", 1);

class AppModule {}
Module({ controllers: [TilesController] })(AppModule);

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.ensureApi({ name: "map tiles" });
await latchkey.ensurePermissions(["tiles.read"]);
const { key } = await latchkey.createKey({ apiId, permissions: ["tiles.read"], remaining: 3 });

const app = await NestFactory.create(AppModule, { logger: ["error", "warn"] });
for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => app.close().then(() => latchkey.close()));
await app.listen(Number(PORT), "127.0.0.1");
console.log(`${await app.getUrl()}/tiles/7`);
console.log(key);
