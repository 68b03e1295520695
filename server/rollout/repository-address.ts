/**
 * Host and path of a Git address, so that `git@host:a/b.git`, `ssh://git@host:2222/a/b` and `https://host/a/b.git` are one
 * repository. Ports differ between protocols and say nothing; the path keeps its case, because hosts differ in that.
 */
function repositoryIdentity(address: string): string {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(address)
  if (scp !== null && !address.includes('://')) return identity(scp[1] ?? '', scp[2] ?? '')
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url === undefined ? identity('', address) : identity(url.hostname, url.pathname)
}

function identity(host: string, path: string): string {
  return `${host.toLowerCase()}/${path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')}`
}

export function isSameAddress(one: string, other: string): boolean {
  return repositoryIdentity(one) === repositoryIdentity(other)
}
