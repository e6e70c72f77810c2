// Shows the document that lies beside this page. Nothing is loaded from anywhere else.

async function show() {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(`openapi.json: ${response.status}`);
  const spec = await response.json();
  // A path that a host has mounted the service on is known to the browser only.
  const mountedOn = location.pathname.replace(/\/v[12]\/docs$/, "");
  spec.servers = [{ url: mountedOn === "" ? "/" : mountedOn }];
  globalThis.SwaggerUIBundle({
    spec,
    dom_id: "#reference",
    layout: "BaseLayout",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 3,
    // A token that is typed in is forgotten with the page, and no validator elsewhere is asked.
    persistAuthorization: false,
    validatorUrl: null,
  });
}

show().catch((error) => {
  document.querySelector("#reference").textContent =
    `The reference cannot be shown: ${error.message}`;
});
