// @ts-nocheck: decorators are called as functions.
import "reflect-metadata";
import { All, Controller, Module, Req, Res, UseGuards } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";

/** An app of NestJS with one guarded route at `/`. */
export function nestApp(guard, route) {
  class Tiles {
    tiles(request, response) {
      return route(request, response);
    }
  }
  const method = Object.getOwnPropertyDescriptor(Tiles.prototype, "tiles");
  All()(Tiles.prototype, "tiles", method);
  UseGuards(guard)(Tiles.prototype, "tiles", method);
  Req()(Tiles.prototype, "tiles", 0);
  Res()(Tiles.prototype, "tiles", 1);
  Controller()(Tiles);
  class App {}
  Module({ controllers: [Tiles] })(App);
  return NestFactory.create(App, { logger: false, bodyParser: false });
}
