import { describe, expect, test } from 'vitest'
import { causeCodes, causeOf } from '../causes.ts'
import { bareDiagnosis } from '../diagnosis.ts'
import { withHeadline } from './headline.ts'
import { renderReason, renderReport, renderSentence } from './render-diagnosis.ts'

const long = (text: string) => text.repeat(20_000)

test.for(causeCodes.filter((code) => causeOf(code).status !== 'cancelled'))(
  'the report of %s has its code and every next step, whatever the other texts hold, and at most 8 KiB',
  (cause) => {
    const text = renderReport(
      causeOf(cause).status,
      bareDiagnosis(cause, {
        culprit: { kind: 'Pod', namespace: 'shop', name: 'shop-1', container: 'app', message: long('ö\n💥') },
        impact: { old_pods_ready: 2, old_pods: 2 },
        conditions: Array.from({ length: 9 }, () => ({ name: 'images', state: 'not_met', since: 1, found: long('ä') })),
        evidence: Array.from({ length: 50 }, () => ({ kind: 'note', text: long('\u2028€') })),
        links: [{ kind: 'application', url: `https://argocd.example/${long('ü')}` }],
      }),
      900,
    )
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_192)
    const [first, ...others] = text.split('\n')
    expect(first).toMatch(new RegExp(`… \\[${cause}\\]$`))
    for (const { text: step } of causeOf(cause).nextSteps)
      expect(others.some((line) => line.endsWith(`: ${step}`))).toBe(true)
  },
)

test('the message that decided is said once, and no line is left with only its label', () => {
  const message = 'back-off 10s restarting failed container=app pod=shop-1'
  const text = renderReport(
    'failed',
    bareDiagnosis('crash_loop', {
      culprit: { kind: 'Pod', namespace: 'shop', name: 'shop-1', message },
      conditions: [{ name: 'no_errors', state: 'not_met', since: 1, expected: 'none', found: message }],
      evidence: [
        { kind: 'app_condition', type: 'SyncError', message },
        { kind: 'operation', phase: 'Failed', message: `first: ${message} (retried 5 times)` },
        {
          kind: 'pod',
          namespace: 'shop',
          name: 'shop-1',
          images: ['a:1'],
          state: '',
          message,
          events: [`BackOff: ${message}`],
        },
      ],
    }),
    31,
  )
  expect(text.split(message)).toHaveLength(2)
  expect(text.split('\n').slice(3)).toEqual([
    'Condition not met for 30s: no errors: expected none',
    'Operation: Failed: first: … (retried 5 times)',
    'Pod shop-1 (a:1)',
  ])
})

test('what Argo CD answered before it became unreachable stands in the first line only', () => {
  const evidence = [{ kind: 'unreachable', since: 600, message: 'connection refused' } as const]
  const text = renderReport('aborted', bareDiagnosis('controller_unreachable', { evidence }), 900)
  expect(text.split('connection refused')).toHaveLength(2)
  expect(text.split('\n')[0]).toContain('Argo CD was unreachable for the last 300s: connection refused')
})

test('a commit that was not made stands in the first line of every failure, however long the message', () => {
  const text = 'nothing was committed: the task came without a valid credential'
  const culprit = { kind: 'Pod', namespace: 'shop', name: 'shop-1', message: 'x'.repeat(2_000) }
  const diagnosis = {
    ...bareDiagnosis('crash_loop', { culprit }),
    evidence: [{ kind: 'not_committed' as const, text }],
  }
  const [first, ...rest] = renderReport('failed', diagnosis, 0).split('\n')
  expect(first).toMatch(new RegExp(`^A container crashes .*Pod shop-1: x+…; ${text} \\[crash_loop\\]$`))
  expect(rest.join()).not.toContain(text)
})

describe('a diagnosis with a headline', () => {
  const message = 'back-off 10s restarting failed container=web pod=web-1'
  const culprit = { kind: 'Pod', namespace: 'shop', name: 'web-1', container: 'web', message, exit_code: 1 }
  const diagnosis = withHeadline(bareDiagnosis('crash_loop', { culprit }))
  const headline = 'Container web crashes on start: exit code 1'

  test('begins every text with it; the words of Kubernetes follow in the report', () => {
    const [first, second, ...others] = renderReport('failed', diagnosis, 0).split('\n')
    expect([first, second]).toEqual([`${headline} [crash_loop]`, `Culprit: Pod web-1, container web: ${message}`])
    expect(others.join()).not.toContain(message)
    expect(renderSentence('failed', diagnosis, 0)).toBe(headline)
    expect(renderReason(diagnosis, 0)).toContain(message)
  })

  test('is the progress of a task that still waits', () => {
    const conditions = [{ name: 'healthy' as const, state: 'not_met' as const, since: 0 }]
    expect(renderSentence('in progress', { ...diagnosis, conditions }, 0)).toBe(headline)
  })

  test('names the reason of Kubernetes before its message', () => {
    const blamed = { ...culprit, reason: 'CrashLoopBackOff' }
    const text = renderReport('failed', withHeadline(bareDiagnosis('crash_loop', { culprit: blamed })), 0)
    expect(text).toContain(`\nCulprit: Pod web-1, container web: CrashLoopBackOff: ${message}\n`)
  })

  test('does not repeat what the headline says', () => {
    const waiting = { kind: 'Ingress', namespace: 'shop', name: 'shop', message: 'no address' }
    const text = renderReport('failed', withHeadline(bareDiagnosis('timeout', { culprit: waiting })), 0)
    expect(text.split('\n')[0]).toBe('Ingress shop is still Progressing: no address [timeout]')
    expect(text.split('no address')).toHaveLength(2)
    const worker = { ...waiting, kind: 'Deployment', message: 'Deployment "shop" exceeded its progress deadline' }
    expect(
      renderReason(withHeadline(bareDiagnosis('degraded', { culprit: worker })), 0, ({ message }) => message),
    ).toBe('')
  })

  test('still says in the first line that nothing was committed', () => {
    const evidence = [{ kind: 'not_committed' as const, text: 'nothing was committed: no credential' }]
    const text = renderReport('failed', { ...diagnosis, evidence }, 0)
    expect(text.split('\n')[0]).toBe(`${headline}; nothing was committed: no credential [crash_loop]`)
    expect(text.split('no credential')).toHaveLength(2)
  })

  test('keeps what was not committed where a culprit has the first line', () => {
    const missing = { kind: 'Application', namespace: 'argocd', name: 'shop', message: 'no alias' }
    const evidence = [{ kind: 'not_committed' as const, text: 'another reason' }]
    const told = withHeadline(bareDiagnosis('annotation_invalid', { culprit: missing, evidence }))
    expect(renderReport('failed', told, 0).split('\n').at(-1)).toBe('another reason')
  })

  test('keeps the words of a Git host that are longer than a line', () => {
    const text = 'remote: '.padEnd(300, 'x')
    const refused = withHeadline(bareDiagnosis('git_refused', { evidence: [{ kind: 'not_committed', text }] }))
    expect(renderReport('failed', refused, 0).split('\n')[1]).toBe(`Message: ${text}`)
  })
})
