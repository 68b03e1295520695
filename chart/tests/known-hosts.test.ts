import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * As the hosts publish them: docs.github.com "GitHub's SSH key fingerprints", docs.gitlab.com "GitLab.com settings",
 * support.atlassian.com "Configure SSH", learn.microsoft.com "Use SSH key authentication" (Azure Repos).
 */
const azure = ['ohD8VZEXGWo6Ez8GSEJQ9WpafgLFsOfLOtGGQCQo6Og']
const published = {
  'github.com': [
    '+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
    'p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
    'uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s',
  ],
  'gitlab.com': [
    'eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8',
    'HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw',
    'ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ',
  ],
  'bitbucket.org': [
    'ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM',
    'FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0',
    '46OSHA1Rmj8E8ERTC6xkNcmGOw9oFxYr0WF6zWW8l1E',
  ],
  'ssh.dev.azure.com': azure,
  'vs-ssh.visualstudio.com': azure,
}

test('the host keys of the chart have the fingerprints that the hosts publish', () => {
  const text = readFileSync(new URL('../files/known_hosts', import.meta.url), 'utf8')
  const found: Record<string, string[]> = {}
  for (const [, host = '', key = ''] of text.matchAll(/^([\w.-]+) \S+ (\S+)$/gm)) {
    const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64')
    found[host] = [...(found[host] ?? []), digest.replace(/=+$/, '')]
  }
  expect(found).toEqual(published)
})
