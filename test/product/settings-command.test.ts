import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../support/run-program.ts'

const run = (env: Record<string, string>) => runCommand('settings', [], env)

test('npm run settings prints each setting with its origin and no secret, then warnings', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'token'), 'canary-token\n')
  const { code, stdout } = await run({
    ARGO_URL: 'https://argocd.example',
    ARGO_TOKEN_FILE: path.join(folder, 'token'),
    DATABASE_URL: 'postgres://watcher:canary-password@db.example/watcher',
    JWT_SECRET: 'canary-short',
    LOCKDOWN_SHEDULE: 'Fri 17:00 - Mon 08:00',
  })
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  for (const line of [
    '  ARGO_URL=https://argocd.example (environment)',
    '  ARGO_TOKEN=set (ARGO_TOKEN_FILE)',
    '  DATABASE_URL=set (environment)',
    '  JWT_SECRET=set (environment)',
    '  TASK_RETENTION_DAYS=365 (default)',
    '  PUBLIC_URL is not set',
    'Warnings',
  ])
    expect(lines).toContain(line)
  expect(stdout).toContain('LOCKDOWN_SCHEDULE')
  expect(stdout).not.toContain('canary')
})

test('npm run settings names every issue and ends with 78', async () => {
  const { code, stdout } = await run({
    ARGO_URL: 'ftp://argocd.example',
    TASK_RETENTION_DAYS: '0',
    JWT_SECRET: 'canary',
  })
  expect(code).toBe(78)
  expect(stdout).toMatch(/^Invalid settings$/m)
  for (const name of ['ARGO_URL', 'ARGO_TOKEN', 'TASK_RETENTION_DAYS', 'DATABASE_URL'])
    expect(stdout).toMatch(new RegExp(`^ {2}- .*${name}`, 'm'))
  expect(stdout).not.toContain('canary')
})
