const tag = /^\w[\w.-]{0,127}$/
const digest = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,}$/i

/** Whether an image's name ends in a tag or digest, as Kubernetes reads it: `host:5000` does, `host:5000/shop` does not. */
export function endsInTag(image: string): boolean {
  const at = image.indexOf('@')
  if (at >= 0) return digest.test(image.slice(at + 1))
  const colon = image.indexOf(':', image.lastIndexOf('/') + 1)
  return colon >= 0 && tag.test(image.slice(colon + 1))
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

/** The parts of a reference as Pods have it: the name, and the tag, or the digest where there is no tag. */
export function splitReference(reference: string): { readonly name: string; readonly version: string } {
  const at = reference.indexOf('@')
  const named = at >= 0 ? reference.slice(0, at) : reference
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const name = colon >= 0 ? named.slice(0, colon) : named
  return { name, version: colon >= 0 ? named.slice(colon + 1) : reference.slice(name.length + 1) }
}
