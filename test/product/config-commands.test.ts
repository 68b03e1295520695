import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCommand, runService } from '../support/run-program.ts'
import { startTokenIssuer } from '../support/token-issuer.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-commands-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string) => {
  const whole = path.join(folder, name)
  writeFileSync(whole, text)
  return whole
}
const rules = (...entries: readonly object[]) => JSON.stringify({ ci_identities: entries })
const rule = { name: 'shop', issuer: 'https://ci.example', match: { project_id: '1' }, apps: ['shop'] }

test('npm run config says that a file is valid, or each mistake with its path and 78', async () => {
  const valid = file('valid.yaml', rules(rule))
  expect(await runCommand('config', [valid])).toMatchObject({
    code: 0,
    stdout: `${valid} is valid: 1 rule of ci_identities, 0 environments\n`,
  })
  const wrong = file('wrong.yaml', rules({ ...rule, match: { project_id: 1 } }, { ...rule, audiance: 'x' }))
  expect(await runCommand('config', [wrong])).toMatchObject({
    code: 78,
    stdout: '',
    stderr: [
      'ci_identities[0].match.project_id: must be a string: quote it',
      'ci_identities[1].audiance: is not known: did you mean audience?',
      '',
    ].join('\n'),
  })
  expect(await runCommand('config', [])).toMatchObject({ code: 2, stderr: expect.stringContaining('usage') })
  expect(await runCommand('config', [path.join(folder, 'absent')])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ENOENT'),
  })
})

test('npm run ci-identity explains a token, its issuer unasked', async () => {
  await using issuer = await startTokenIssuer()
  const exp = Math.floor(Date.now() / 1000) + 300
  const claims = {
    iss: issuer.url,
    aud: 'https://watcher.example',
    sub: 'job',
    exp,
    project_id: '1',
    ref: 'dev',
    ref_type: 'branch',
  }
  const token = file('token', `${await issuer.sign(claims)}\n`)
  const own = { ...rule, issuer: issuer.url }
  const main = { ...own, name: 'main', match: { project_id: '1', ref: 'main', ref_type: 'branch' } }
  const config = file('rules.yaml', rules(own, main, { ...own, name: 'us', audience: 'us' }, { ...rule, name: 'away' }))
  const settings = { PUBLIC_URL: 'https://watcher.example' }
  const { code, stdout } = await runCommand('ci-identity', [token, '--config', config], settings)
  expect(code).toBe(0)
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining([
      `issuer: ${issuer.url}`,
      '  ref: "dev"',
      '  shop: holds, for shop',
      '  main: ref is dev, must be main',
      '  us: aud is "https://watcher.example", must be us alone',
      '  away: is for the issuer https://ci.example',
    ]),
  )
  expect(issuer.calls()).toEqual([])
  const refusing = file('refusing.yaml', rules(main))
  expect(await runCommand('ci-identity', [token], { ...settings, CONFIG_FILE: refusing })).toMatchObject({ code: 4 })
  expect(await runCommand('ci-identity', [file('junk', 'x'), '--config', config], settings)).toMatchObject({
    code: 4,
    stdout: 'this is not a JWT\n',
  })
  expect(await runCommand('ci-identity', [])).toMatchObject({ code: 2, stderr: expect.stringContaining('usage') })
})

test('a mistake in the file ends the start with 78 and its path', async () => {
  const CONFIG_FILE = file('start.yaml', rules({ ...rule, match: { ref: 'main' } }))
  const env = {
    ARGO_URL: 'https://argocd.example',
    ARGO_TOKEN: 'x',
    DATABASE_URL: 'postgres://a:b@db.example/c',
    CONFIG_FILE,
  }
  const { code, stderr } = await runService(env)
  expect(code).toBe(78)
  expect(stderr).toContain('CONFIG: ci_identities[0].match: must name one of repository_id')
})
