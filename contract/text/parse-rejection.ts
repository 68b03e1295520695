import { innermostErrors, nameKinds, plainWords, withoutUrls } from './plain-words.ts'

/** What an API server says of an object that it does not take. `webhook_down`: nothing decided, as a webhook did not answer. */
export type Rejection = {
  readonly by: 'quota' | 'quota_rule' | 'pod_security' | 'policy' | 'webhook' | 'webhook_down' | 'other'
  readonly words: string
}

const parsers: readonly ((text: string) => Rejection | undefined)[] = [
  parseQuota,
  parseQuotaRule,
  parsePodSecurity,
  parseWebhookDown,
  parseWebhook,
  parsePolicy,
]

export function parseRejection(message: string): Rejection | undefined {
  const text = plainWords(message)
  for (const parse of parsers) {
    const found = parse(text)
    if (found !== undefined) return found
  }
  const forbidden = /\bis forbidden: (.*)$/.exec(text)?.[1]
  return forbidden === undefined ? undefined : { by: 'other', words: innermostErrors(nameKinds(forbidden), 70) }
}

/** `exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2` */
function parseQuota(text: string): Rejection | undefined {
  const [, name, requested, used, limited] =
    /exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)/.exec(text) ?? []
  if (name === undefined) return undefined
  const [asked, taken, limits] = [amounts(requested), amounts(used), amounts(limited)]
  const figures = [...asked].map(([resource, amount]) => {
    const [now, limit] = [taken.get(resource), limits.get(resource)]
    return `${resource}: ${now} of ${limit} used${now === limit ? '' : `, ${amount} requested`}`
  })
  return { by: 'quota', words: `quota ${name} exceeded (${figures.join('; ')})` }
}

const amounts = (text = ''): ReadonlyMap<string, string> =>
  new Map(
    text.split(',').flatMap((one) => {
      const [resource, amount] = one.split('=')
      return resource && amount ? [[resource, amount] as const] : []
    }),
  )

/** `failed quota: team: must specify limits.cpu for: web` */
function parseQuotaRule(text: string): Rejection | undefined {
  const [, name, fields] = /failed quota: (\S+): must specify ([\w.,-]+)/.exec(text) ?? []
  return name === undefined ? undefined : { by: 'quota_rule', words: `quota ${name} requires ${fields}` }
}

/** The names of the broken rules; which container breaks them, the whole message says. */
function parsePodSecurity(text: string): Rejection | undefined {
  const [, level, rules = ''] = /violates PodSecurity "([^":]+)[^"]*": (.*)$/.exec(text) ?? []
  if (level === undefined) return undefined
  return { by: 'pod_security', words: `by Pod Security ${level}: ${rules.replace(/ \([^)]*\)/g, '')}` }
}

/** `failed calling webhook "a": failed to call webhook: Post "https://…": dial tcp 10.0.0.7:443: connect: connection refused` */
function parseWebhookDown(text: string): Rejection | undefined {
  const [, name, why = ''] = /failed calling webhook "([^"]+)": (.*)$/.exec(text) ?? []
  if (name === undefined) return undefined
  const last = /deadline exceeded|timeout/i.test(withoutUrls(why)) ? 'timed out' : innermostErrors(why, 20)
  return { by: 'webhook_down', words: `admission webhook ${name} does not answer: ${last}` }
}

function parseWebhook(text: string): Rejection | undefined {
  const [, name, why] = /admission webhook "([^"]+)" denied the request(?:: (.*))?$/.exec(text) ?? []
  return name === undefined ? undefined : { by: 'webhook', words: withWhy(`by admission webhook ${name}`, why) }
}

function parsePolicy(text: string): Rejection | undefined {
  const [, name, why] = /ValidatingAdmissionPolicy '([^']+)'.*? denied request(?:: (.*))?$/.exec(text) ?? []
  return name === undefined ? undefined : { by: 'policy', words: withWhy(`by admission policy ${name}`, why) }
}

const withWhy = (by: string, why: string | undefined) => (why ? `${by}: ${why}` : by)
