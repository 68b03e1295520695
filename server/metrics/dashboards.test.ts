import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from './metrics.ts'

const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

type Rule = { alert: string; expr: string; annotations: { runbook: string } }
const rules: Rule[] = parse(textOf('chart/files/alerts.yaml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
const panels: { title: string; targets?: { expr: string }[] }[] = JSON.parse(
  textOf('chart/files/dashboard.json'),
).panels

const expressions = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
]

/** The names of metrics in an expression: no functions, keywords, labels or their values. */
const namesIn = (expr: string) =>
  expr
    .replace(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|on|group_left) \([^)]*\)/g, ' ')
    .match(/\b[a-z_]\w+\b(?! ?\()/g)
    ?.filter((word) => !/^(?:unless|and|or|by|on|group_left|sum|max|count)$/.test(word)) ?? []

const existing = async () => {
  const metrics = createMetrics()
  metrics.readFrom({
    inProgressTasks: () => 0,
    ownedTasks: () => 0,
    isControllerUnavailable: () => false,
    isDatabaseUnavailable: () => false,
    streamState: () => 'live',
    isJwtSecretWeak: () => false,
    wasLastConfigGood: () => true,
    oldestDueDeliverySeconds: () => 0,
    openWriteBacks: () => ({ count: 0, oldestSeconds: 0 }),
    openEventStreams: () => 0,
    lockSource: () => null,
    waitingForConnection: () => ({ main: 0 }),
    version: '0',
  })
  const kinds = [...(await metrics.render()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return new Set(
    kinds.flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  )
}

test('the dashboard and the alert rules name only metrics that exist', async () => {
  const names = await existing()
  const unknown = expressions.flatMap(({ where, expr }) =>
    namesIn(expr).flatMap((name) => (names.has(name) ? [] : [`${where}: ${name}`])),
  )
  expect(unknown).toEqual([])
  expect(expressions.every(({ expr }) => namesIn(expr).length > 0)).toBe(true)
})

test('the dashboard shows every metric of the service', async () => {
  const shown = new Set(
    panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))).map(withoutSuffix),
  )
  const own = [...(await existing())].map(withoutSuffix).filter((name) => !/^(?:nodejs|process)_/.test(name))
  expect(own.filter((name) => !shown.has(name))).toEqual([])
})

test('a name that argo-watcher has not begins with watcher_, so that it meets no other in a shared Prometheus', async () => {
  const own = [...(await existing())].map(withoutSuffix).filter((name) => !/^(?:nodejs|process|watcher)_/.test(name))
  expect([...new Set(own)].sort()).toEqual([
    'accepted_deployments',
    'argocd_refresh_duration_seconds',
    'argocd_unavailable',
    'deployment_duration_seconds',
    'deployments_total',
    'failed_deployment',
    'gitops_batch_size',
    'gitops_lock_wait_duration_seconds',
    'gitops_writeback_duration_seconds',
    'gitops_writeback_skipped_unvalidated',
    'in_progress_tasks',
    'state_unavailable',
    'unauthenticated_reads',
    'unconfirmed_deployment_failures',
  ])
})

const withoutSuffix = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '')

describe('alert rules', () => {
  test.for(rules)('$alert leads to the section that helps, and promtool tries it', ({ alert, annotations }) => {
    const [file = '', anchor] = annotations.runbook.split('#')
    const headings = [...textOf(file).matchAll(/^## (\w+)$/gm)].map(([, heading]) => heading)
    expect(headings.map((heading) => heading?.toLowerCase())).toContain(anchor)
    expect(textOf('chart/tests/alerts.test.yaml')).toContain(`alertname: ${alert}\n        exp_alerts:\n`)
  })
})
