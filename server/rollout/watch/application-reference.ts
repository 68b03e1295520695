import type { ObservedApplication } from '../judge/observed-application.ts'

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

/** A plain name means the application in the namespace of the controller itself, which recent versions report with each application. */
export function isNamed(
  application: Pick<ObservedApplication, 'name' | 'namespace' | 'controllerNamespace'>,
  reference: ApplicationReference,
  controlPlaneNamespace: string,
): boolean {
  const namespace = reference.namespace ?? application.controllerNamespace ?? controlPlaneNamespace
  return application.name === reference.name && application.namespace === namespace
}
