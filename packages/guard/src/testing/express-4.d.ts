/** Express 4, installed under another name. Its routes are typed as in 5. */
declare module "express-4" {
  export { default } from "express";
}
