/** The host of Git repositories and pages that belongs to an API address, with its port: `github.com`, `github.example.com`. */
export function gitHubHostOf(apiUrl: string): string {
  const { host } = new URL(apiUrl)
  return host === 'api.github.com' || /^api\.[\w-]+\.ghe\.com$/.test(host) ? host.slice('api.'.length) : host
}

/** The address of the pages that belongs to an API address: `https://github.com`. */
export const gitHubPagesOf = (apiUrl: string): string => `${new URL(apiUrl).protocol}//${gitHubHostOf(apiUrl)}`
