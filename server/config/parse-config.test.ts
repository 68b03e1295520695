import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { emptyConfig, environmentFor, parseConfig } from './parse-config.ts'

const rule = (more: string) =>
  `ci_identities:\n  - name: shop\n    issuer: https://ci.example\n    apps: [shop]\n${more}`
const notify = (target: string, route = '') => `notifications: { targets: { ${target} }, routes: [${route}] }`
const pinned = '    match: { repository_id: "1" }\n'
const issuesOf = (text: string, publicUrl: string | undefined = 'https://watcher.example') => {
  const parsed = parseConfig(text, publicUrl)
  return 'issues' in parsed ? parsed.issues : []
}

test.for([
  ['nothing', '  \n', 'the file is empty: write {} for no configuration'],
  ['no map', '- 1', 'the file must be a map'],
  [
    'broken YAML',
    'a: [',
    'line 1, column 5: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  ['a key twice', 'environments: {}\nenvironments: {}', 'line 2, column 1: Map keys must be unique'],
  ['an unknown section', 'ci_identites: []', 'ci_identites: is not known: did you mean ci_identities?'],
  [
    'an unknown key of a rule',
    rule(`${pinned}    audiance: x`),
    'ci_identities[0].audiance: is not known: did you mean audience?',
  ],
  ['no list of rules', 'ci_identities: {}', 'ci_identities: must be a list'],
  ['no match', rule(''), 'ci_identities[0].match: is required'],
  [
    'no issuer',
    'ci_identities: [{ name: a, apps: all, match: { project_id: "1" } }]',
    'ci_identities[0].issuer: is required',
  ],
  [
    'no apps',
    'ci_identities: [{ name: a, issuer: "https://a.b", match: { project_id: "1" } }]',
    'ci_identities[0].apps: is required',
  ],
  [
    'apps that are a word',
    rule(pinned).replace('[shop]', 'shop'),
    'ci_identities[0].apps: must be a list of names or globs, or all',
  ],
  [
    'no apps in the list',
    rule(pinned).replace('[shop]', '[]'),
    'ci_identities[0].apps: must be a list with at least one entry',
  ],
  [
    'http',
    rule(pinned).replace('https:', 'http:'),
    'ci_identities[0].issuer: must be an https:// address without user, query and fragment (http:// on a loopback address only)',
  ],
  [
    'an empty match',
    rule('    match: {}\n'),
    'ci_identities[0].match: must name one of repository_id, repository_owner_id, project_id, namespace_id, oidc.circleci.com/project-id, pipeline_id: other claims may come to mean another repository',
  ],
  [
    'a match without an id',
    rule('    match: { ref: refs/heads/main }\n'),
    'ci_identities[0].match: must name one of repository_id, repository_owner_id, project_id, namespace_id, oidc.circleci.com/project-id, pipeline_id: other claims may come to mean another repository',
  ],
  [
    'a bare number',
    rule('    match: { repository_id: 1 }\n'),
    'ci_identities[0].match.repository_id: must be a string: quote it',
  ],
  [
    'a bare number in a list',
    rule('    match: { repository_id: ["1", 2] }\n'),
    'ci_identities[0].match.repository_id[1]: must be a string: quote it',
  ],
  [
    'a bare boolean',
    rule('    match: { project_id: "1", ref_protected: true }\n'),
    'ci_identities[0].match.ref_protected: must be a string: quote it',
  ],
  [
    'an empty id',
    rule('    match: { repository_id: "" }\n'),
    'ci_identities[0].match.repository_id: must not be empty',
  ],
  [
    'no id in the list',
    rule('    match: { repository_id: [] }\n'),
    'ci_identities[0].match.repository_id: must be a list with at least one entry',
  ],
  [
    'an id with a pattern',
    rule('    match: { repository_id: "1*" }\n'),
    'ci_identities[0].match.repository_id: must be exact: an id has no pattern',
  ],
  [
    'sub with a pattern',
    rule('    match: { repository_id: "1", sub: "repo:*" }\n'),
    'ci_identities[0].match.sub: must be exact: its form changed in 2026; match its parts by their claims',
  ],
  [
    'a * in the middle',
    rule('    match: { repository_id: "1", ref: "refs/*/main" }\n'),
    'ci_identities[0].match.ref: must have a * at its end only',
  ],
  [
    'two *',
    rule('    match: { repository_id: "1", ref: "refs/**" }\n'),
    'ci_identities[0].match.ref: must have a * at its end only',
  ],
  [
    'ref without ref_type',
    rule('    match: { project_id: "1", ref: main }\n'),
    'ci_identities[0].match.ref_type: must be named with ref: a tag may have the name of a branch',
  ],
  [
    'a path that needs quotes',
    rule('    match: { "oidc.circleci.com/project-id": 7 }\n'),
    'ci_identities[0].match["oidc.circleci.com/project-id"]: must be a string: quote it',
  ],
  [
    'a name twice',
    `${rule(pinned)}  - { name: shop, issuer: "https://a.b", apps: all, match: { project_id: "1" } }`,
    'ci_identities[1].name: names two rules: give each a name of its own',
  ],
  ['an environment that is a number', 'environments: { shop: 1 }', 'environments.shop: must be a string'],
  [
    'an unknown kind of target',
    notify('a: { kind: pager }'),
    'notifications.targets.a.kind: must be one of webhook, slack, mattermost, teams, devlake, cdevents, otlp, github, gitlab',
  ],
  [
    'a target without its secret',
    notify('a: { kind: webhook, url: https://a.b }'),
    'notifications.targets.a.secret: is required',
  ],
  [
    'a secret in the file',
    notify('a: { kind: slack, channel: C1, token: xoxb-1 }'),
    'notifications.targets.a.token: must be a map',
  ],
  [
    'an address with a user',
    notify('a: { kind: webhook, url: "https://me:pw@a.b", secret: { env: A } }'),
    'notifications.targets.a.url: must be an https:// or http:// address without user',
  ],
  [
    'a route to an unknown target',
    notify('a: { kind: teams, url: { env: A } }', '{ events: [failed], targets: [b] }'),
    'notifications.routes[0].targets[0]: names no target: b',
  ],
  [
    'an unknown event',
    notify('a: { kind: teams, url: { env: A } }', '{ events: [fails], targets: [a] }'),
    'notifications.routes[0].events[0]: must be one of started, succeeded, recovered, failed, aborted, cancelled, lock_changed',
  ],
])('%s is a mistake with its path', ([, text = '', issue]) => expect(issuesOf(text)).toEqual([issue]))

test('a rule has an audience of its own, or that of PUBLIC_URL', () => {
  expect(parseConfig(rule(pinned), 'https://watcher.example')).toMatchObject({
    config: {
      ciRules: [{ name: 'shop', audience: 'https://watcher.example', match: { repository_id: ['1'] }, apps: ['shop'] }],
      environments: [],
    },
  })
  expect(parseConfig(rule(`${pinned}    audience: us`), undefined)).toMatchObject({
    config: { ciRules: [{ audience: 'us' }] },
  })
  const { issues = [] } = parseConfig(rule(pinned), undefined) as { issues?: readonly string[] }
  expect(issues).toEqual(['ci_identities[0].audience: is required where PUBLIC_URL is not set'])
})

test('applications may be all', () => {
  expect(parseConfig(rule(pinned).replace('[shop]', 'all'), 'https://watcher.example')).toMatchObject({
    config: { ciRules: [{ apps: 'all' }] },
  })
})

test.for([
  ['shop', 'exact'],
  ['shop-eu', 'eu'],
  ['shop-us', 'most of shop'],
  ['web-eu', 'rest of eu'],
  ['blog', undefined],
  ['team/shop-us', undefined],
] as const)('deployments of %s have the environment of the most exact glob: %s', ([app, environment]) => {
  const globs = { '*-eu': 'rest of eu', 'shop*': 'most of shop', 'shop-e?': 'eu', shop: 'exact' }
  for (const entries of [Object.entries(globs), Object.entries(globs).reverse()]) {
    const parsed = parseConfig(JSON.stringify({ environments: Object.fromEntries(entries) }), undefined)
    expect('config' in parsed && environmentFor(parsed.config, app)).toBe(environment)
  }
})

test('a document of comments is a configuration of nothing', () => {
  expect(parseConfig('# nothing yet\n', undefined)).toEqual({ config: emptyConfig })
})

test.for([
  ['aliases that multiply', `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]`],
  ['more than 1 MiB', `environments: { a: "${'x'.repeat(1_048_576)}" }`],
])('%s is a mistake', ([, text = '']) => expect(issuesOf(text)).toHaveLength(1))

test('the documents show configurations that are valid', () => {
  const docs = new URL('../../docs/', import.meta.url)
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'))
  const blocks = pages.flatMap((page) =>
    [...readFileSync(new URL(page, docs), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text),
  )
  const shown = blocks.filter((text) => /^(ci_identities|environments):/m.test(text))
  expect(shown.length).toBeGreaterThan(5)
  for (const text of shown) expect(issuesOf(text)).toEqual([])
})
