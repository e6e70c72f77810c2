/** The last version before 5, under another name. Its routes have the types of 5. */
declare module "express-4" {
  export { default } from "express";
}
