/** What a browser does about redirects and cookies, without pages and scripts. */
export function createHttpBrowser() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) => {
    const jar = jars.get(url.origin) ?? new Map<string, string>()
    jars.set(url.origin, jar)
    return jar
  }

  async function request(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address)
    const cookies = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = new Headers(init.headers)
    if (cookies !== '') headers.set('cookie', cookies)
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) keep(jarOf(url), line)
    return answer
  }

  /** Follows redirects, fills in the provider's sign-in form, and stops where `isThere`; gives the address. */
  async function go(address: string | URL, form: SignInForm, isThere: (url: URL) => boolean): Promise<URL> {
    let url = new URL(address)
    for (let hop = 0; hop < 20; hop++) {
      if (isThere(url)) return url
      const answer = url.pathname.startsWith('/interaction/') ? await fillIn(url, form) : await request(url)
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`no way on from ${url.href}: ${answer.status} ${await answer.text()}`)
      await answer.arrayBuffer()
      url = new URL(location, url)
    }
    throw new Error(`too many redirects, last to ${url.href}`)
  }

  const fillIn = (url: URL, form: SignInForm) =>
    'user' in form
      ? request(url, { method: 'POST', body: new URLSearchParams({ prompt: 'login', login: form.user }) })
      : request(`${url.href}/abort`)

  return {
    request,
    go,
    cookies: (origin: string): ReadonlyMap<string, string> => jarOf(new URL(origin)),
    setCookie: (origin: string, name: string, value: string) => void jarOf(new URL(origin)).set(name, value),

    /** Signs in to a service, as far as it goes. @returns the page that the browser ends at */
    async signIn(service: string, user: string, returnPath = '/'): Promise<URL> {
      const start = `${service}/auth/login?${new URLSearchParams({ return: returnPath })}`
      return go(start, { user }, (url) => url.origin === service && !url.pathname.startsWith('/auth/'))
    },

    /** As the service's own pages ask for changes. */
    change: (service: string, path: string, method: string, body?: unknown) =>
      request(`${service}${path}`, {
        method,
        headers: {
          origin: service,
          'sec-fetch-site': 'same-origin',
          'x-watcher-csrf': '1',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}
export type HttpBrowser = ReturnType<typeof createHttpBrowser>

type SignInForm = { readonly user: string } | { readonly abort: true }

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(/;\s*/)
  const at = pair.indexOf('=')
  const expires = attributes.find((attribute) => /^expires=/i.test(attribute))?.slice('expires='.length)
  const isOver = attributes.includes('Max-Age=0') || (expires !== undefined && Date.parse(expires) <= Date.now())
  if (isOver) jar.delete(pair.slice(0, at))
  else jar.set(pair.slice(0, at), pair.slice(at + 1))
}
