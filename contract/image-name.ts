/** Where the tag or digest of an image begins: the index of the colon behind its path, or of the `@`; -1 for a bare name. */
export function tagIndexOf(image: string): number {
  const at = image.indexOf('@')
  const colon = image.indexOf(':', image.lastIndexOf('/', at < 0 ? image.length : at) + 1)
  return colon < 0 || (at >= 0 && at < colon) ? at : colon
}

/**
 * The repository that a name without a tag means, as Kubernetes reads it: registry and `library/` filled in. The first part
 * is a registry when it looks like a host; everything else lives on Docker Hub.
 */
export function repositoryOf(name: string): string {
  const [first = '', ...rest] = name.split('/')
  const isHost = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost')
  if (!isHost) return `docker.io/${rest.length === 0 ? `library/${name}` : name}`
  const host = first === 'index.docker.io' || first === 'registry-1.docker.io' ? 'docker.io' : first.toLowerCase()
  return host === 'docker.io' && rest.length === 1 ? `docker.io/library/${rest[0]}` : [host, ...rest].join('/')
}
