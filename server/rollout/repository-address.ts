/**
 * Host and path of a Git address, so that `git@host:a/b.git`, `ssh://git@host/a/b` and `https://host/a/b.git` are one repository.
 * The port counts only where it is not the scheme's own; the path keeps its case, because hosts differ in that.
 */
export function repositoryIdentity(address: string): string {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(address)
  if (scp !== null && !address.includes('://')) return identity(scp[1] ?? '', scp[2] ?? '')
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) return identity('', address)
  const isUsualPort = url.port === '' || (url.protocol === 'ssh:' && url.port === '22')
  return identity(isUsualPort ? url.hostname : `${url.hostname}:${url.port}`, url.pathname)
}

function identity(host: string, path: string): string {
  return `${host.toLowerCase()}/${path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')}`
}

export function isSameAddress(one: string, other: string): boolean {
  return repositoryIdentity(one) === repositoryIdentity(other)
}
