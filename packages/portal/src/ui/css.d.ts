declare module "*.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a style sheet is imported whole
  export default text;
}
