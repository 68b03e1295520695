/** How a task names its application: `name`, or `namespace/name` where applications live in any namespace. */
export type ApplicationReference = { readonly name: string; readonly namespace: string | undefined }

export function parseApplicationReference(app: string): ApplicationReference {
  const slash = app.indexOf('/')
  if (slash < 0) return { name: app, namespace: undefined }
  return { name: app.slice(slash + 1), namespace: app.slice(0, slash) }
}

/** The one name that tasks have of an application: `shop` for `argocd/shop` where Argo CD runs in the namespace `argocd`. */
export function canonicalName(app: string, controlPlaneNamespace: string): string {
  const { name, namespace } = parseApplicationReference(app)
  return namespace === controlPlaneNamespace ? name : app
}
