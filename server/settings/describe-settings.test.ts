import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { xssPayloads } from '../../test/security/xss-payloads.ts'
import { definitions } from './definitions.ts'
import { describeSettings } from './describe-settings.ts'

const settingsOf = (environment: Record<string, string>) =>
  new Map(describeSettings(environment).flatMap(({ settings }) => settings.map((one) => [one.name, one] as const)))

test('every setting is described once, in the groups and the order of the documentation', () => {
  const documentation = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  const sections = documentation.split(/^## /m).slice(1)
  const documented = sections.map((section) => ({
    name: section.split('\n', 1)[0],
    settings: [...section.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name),
  }))
  const described = describeSettings({}).map(({ name, settings }) => ({
    name,
    settings: settings.map((one) => one.name).sort(),
  }))
  expect(described.flatMap(({ settings }) => settings).sort()).toEqual(Object.keys(definitions.shape).sort())
  expect(described).toEqual(
    documented.slice(0, described.length).map(({ name, settings }) => ({ name, settings: settings.sort() })),
  )
})

test('a setting is a secret where the documentation says so', () => {
  const documentation = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  const documented = [...documentation.matchAll(/^\| `([A-Z_]+)` \|[^|]*\| secret \|/gm)].map(([, name]) => name)
  const secret = [...settingsOf({}).values()].filter((one) => one.is_secret).map(({ name }) => name)
  // With user and password.
  expect(secret.sort()).toEqual([...documented, 'DATABASE_URL', 'DB_DSN'].sort())
})

test('values come with their origin, secrets without their text, addresses without user and password', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'settings-'))
  try {
    const file = path.join(folder, 'token')
    writeFileSync(file, 'canary-of-a-file\n')
    const settings = settingsOf({
      ARGO_URL: 'https://ada:canary@argo.example/base',
      ARGO_TOKEN_FILE: file,
      ARGO_WATCHER_DEPLOY_TOKEN: 'canary-token',
      DATABASE_URL: 'postgres://ada:canary@db.example/watcher',
      DOCKER_IMAGES_PROXY: 'ada:canary@proxy.example/cache',
      GIT_CREDENTIALS: 'git.example=ada:canary',
      JWT_SECRET_PREVIOUS: '  ',
      OIDC_ISSUER_URL: 'https://login.example',
      SSH_COMMIT_MAIL: 'ada@shop.example',
      WRITE_BACK_ALLOWED_REPOS: 'git.example/team, https://ada:canary@git.example/shop,ssh://git@git.example/shop',
    })
    const shown = (name: string) => [settings.get(name)?.value, settings.get(name)?.origin]
    expect(shown('ARGO_URL')).toEqual(['https://argo.example/base', 'environment'])
    expect(shown('ARGO_TOKEN')).toEqual(['set', 'ARGO_TOKEN_FILE'])
    expect(shown('WATCHER_DEPLOY_TOKEN')).toEqual(['set', 'ARGO_WATCHER_DEPLOY_TOKEN'])
    expect(shown('DATABASE_URL')).toEqual(['set', 'environment'])
    expect(shown('DOCKER_IMAGES_PROXY')).toEqual(['proxy.example/cache', 'environment'])
    expect(shown('GIT_CREDENTIALS')).toEqual(['set', 'environment'])
    expect(shown('JWT_SECRET_PREVIOUS')).toEqual([null, 'environment'])
    expect(shown('JWT_SECRET')).toEqual([null, 'default'])
    expect(shown('IDP_ISSUER_URL')).toEqual(['https://login.example', 'OIDC_ISSUER_URL'])
    expect(shown('SSH_COMMIT_MAIL')).toEqual(['ada@shop.example', 'environment'])
    expect(shown('PORT')).toEqual(['8080', 'default'])
    expect(shown('WRITE_BACK_ALLOWED_REPOS')).toEqual([
      'git.example/team, https://git.example/shop, ssh://git.example/shop',
      'environment',
    ])
    expect(JSON.stringify([...settings.values()])).not.toContain('canary')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a setting that cannot be read as one is described all the same', () => {
  for (const payload of xssPayloads)
    expect(settingsOf({ ARGO_SELECTOR: payload }).get('ARGO_SELECTOR')?.value).toBeTruthy()
  expect(settingsOf({ PORT: 'many' }).get('PORT')).toMatchObject({ value: 'many', origin: 'environment' })
  expect(settingsOf({ ARGO_TOKEN_FILE: '/nowhere' }).get('ARGO_TOKEN')).toMatchObject({ value: null })
})
