import { createGuard } from "@latchkey/guard/express";
import express from "express";

/**
 * The application under test. Its latchkey is a parameter, so that a test can pass another one.
 *
 * @param {import("latchkey").Latchkey} latchkey
 */
export function createApp(latchkey) {
  const guard = createGuard(latchkey);
  const app = express();
  app.get("/tiles/:zoom", guard({ permissions: "tiles.read" }), (req, res) => {
    res.json({ zoom: req.params.zoom, usesLeft: res.locals.apiKey.remaining });
  });
  return app;
}
