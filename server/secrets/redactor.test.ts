import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../test/support/cpu-time.ts'
import { createRedactor, redactUrl } from './redactor.ts'

const secret = 'cañary+7/3 "q"=='
const redact = createRedactor(() => [secret, ''])

describe('the redactor of the log', () => {
  test.for<[string, string]>([
    ['plain', secret],
    ['in JSON', JSON.stringify({ msg: secret })],
    ['percent-encoded', `?x=${encodeURIComponent(secret)}`],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
    ['in the base64 of basic authentication', Buffer.from(`me:${secret}`).toString('base64')],
  ])('hides a known secret %s', ([, line]) => {
    expect(redact(line)).toContain('<redacted>')
    expect(redact(line)).not.toMatch(/ca(?:ñ|%C3%B1)ary|Y2HDsWFyeS/)
  })

  test.for([
    '{"authorization":"hidden-1"}',
    '{"Authorization":"Bearer hidden-1"}',
    '{"proxy-authorization":"Basic hidden-1"}',
    '{"Oidc-Authorization":"hidden-1"}',
    '{"keycloak-authorization":"hidden-1"}',
    '{"WATCHER_DEPLOY_TOKEN":"hidden-1"}',
    '{"watcher-deploy-token":"hidden-1"}',
    '{"argo_watcher_deploy_token":"hidden-1"}',
    '{"deploy_token":"hidden-1 \\" hidden-1"}',
    '{"cookie":"session=hidden-1"}',
    '{"url":"/api/v1/tasks?a=b&deploy_token=hidden-1"}',
    '{"url":"https://user:hidden-1@git.example/repo"}',
    '{"msg":"the answer was eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.hidden-1"}',
    '{"msg":"a-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.hidden-1"}',
    '{"msg":"the token dwt_hidden-1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa is unknown"}',
    '{"msg":"client_secret=hidden-1&code_verifier=hidden-1"}',
    '{"msg":"postgres://user:hidden-1@db/x failed"}',
  ])('hides what carries a credential by its place: %s', (line) => {
    expect(redact(line)).not.toContain('hidden-1')
    expect(() => JSON.parse(redact(line))).not.toThrow()
  })

  test('leaves everything else alone', () => {
    const line =
      '{"url":"https://git.example/repo?code=1","app":"shop","mail":"ada@example.com","host":"eyJ.example.com"}'
    expect(redact(line)).toBe(line)
  })

  test('makes characters visible that would write on a terminal', () => {
    expect(redact('{"app":"\u009b31m\u202e\u2028"}')).toBe('{"app":"\\u009b31m\\u202e\\u2028"}')
  })

  test.for([
    'a.',
    'eyJhbGciOiJI',
    'eyJhbGciOiJI.',
    '-eyJ',
    '-eyJhbGciOiJI',
    'a://',
    '"deploy',
    '"',
    '\\',
    'deploy_token=',
    'a://b@',
    '"cookie":"\\',
  ])('stays quick on 100 kB of %s', (piece) => {
    const line = piece.repeat(100_000 / piece.length)
    const start = cpuMs()
    redact(line)
    expect(cpuMs() - start).toBeLessThan(100)
  })

  test.for([
    ['/tasks', '/tasks'],
    ['/tasks?app=a&x', '/tasks?app=a&x'],
    ['/tasks?deploy_token=s&app=a', '/tasks?deploy_token=<redacted>&app=a'],
    ['/tasks?deploy%5ftoken=s', '/tasks?deploy_token=<redacted>'],
    ['/auth/callback?code=s&state=t&iss=i', '/auth/callback?code=<redacted>&state=<redacted>&iss=i'],
    ['/tasks?%64eploy_token=a=b&deploy_token=c', '/tasks?deploy_token=<redacted>&deploy_token=<redacted>'],
  ] as const)('%s is logged as %s', ([url, logged]) => expect(redactUrl(url)).toBe(logged))
})
