import { describe, expect, test } from 'vitest'
import { type Cause, causeOf } from '../causes.ts'
import type { TaskRecord } from '../task.ts'
import { exampleDiagnosis, exampleEndSeconds } from './example-diagnoses.ts'
import { type NotificationEvent, notificationDetails, notificationHeadline } from './notification-text.ts'

const aTask = (fields: Partial<TaskRecord> = {}): TaskRecord => ({
  id: '01a2',
  created: exampleEndSeconds - 48,
  updated: exampleEndSeconds,
  app: 'shop',
  author: 'ada',
  project: 'store',
  environment: 'production',
  images: [{ image: 'registry.example/shop', tag: '1.2.0' }],
  previous: { id: '01a1', ended: 0, images: [{ image: 'registry.example/shop', tag: '1.1.0' }] },
  status: 'deployed',
  ...fields,
})
const ended = (cause: Cause, fields: Partial<TaskRecord> = {}) =>
  aTask({ status: causeOf(cause).status, cause, diagnosis: exampleDiagnosis(cause), ...fields })
const withoutDiagnosis = { status: 'failed', status_reason: 'The image cannot be pulled\nmore' } as const
const images = (...tags: string[]) => tags.map((tag, index) => ({ image: `registry.example/app${index}`, tag }))
const deployed = (...tags: string[]) => ({ id: '01a1', ended: 0, images: images(...tags) })

describe('the headline', () => {
  test.for<[NotificationEvent, TaskRecord, string]>([
    ['started', aTask({ status: 'in progress' }), '▷ shop 1.2.0 is being deployed to production · by ada'],
    ['succeeded', aTask(), '✓ shop 1.2.0 deployed to production · by ada · 48 s'],
    ['recovered', aTask(), '✓ shop 1.2.0 deployed to production after a failure · by ada · 48 s'],
    [
      'failed',
      ended('crash_loop'),
      '✕ shop 1.2.0 failed in production: Container web crashes on start (exit code 1, 4 times in 2 min) · 1.1.0 still serves · by ada · 48 s',
    ],
    [
      'failed',
      ended('app_not_found', { environment: undefined }),
      '✕ shop 1.2.0 failed: Argo CD has no application of this name, or this account may not read it · by ada · 48 s',
    ],
    [
      'aborted',
      ended('controller_unreachable', { created: exampleEndSeconds - 125 }),
      '✕ shop 1.2.0 aborted in production: The outcome is not confirmed (Argo CD is unreachable: connection refused) · by ada · 2 min 5 s',
    ],
    [
      'cancelled',
      ended('superseded', { created: exampleEndSeconds - 7_260 }),
      '– shop 1.2.0 cancelled in production: superseded by a newer deployment · by ada · 2 h 1 min',
    ],
    [
      'failed',
      aTask(withoutDiagnosis),
      '✕ shop 1.2.0 failed in production: The image cannot be pulled · by ada · 48 s',
    ],
    ['succeeded', aTask({ is_rollback: true }), '✓ shop 1.2.0 (rollback) deployed to production · by ada · 48 s'],
    [
      'started',
      aTask({ images: images('2', '3', '4') }),
      '▷ shop 2 and 2 more images is being deployed to production · by ada',
    ],
    ['started', aTask({ images: images('2', '2') }), '▷ shop 2 is being deployed to production · by ada'],
  ])('%s %#', ([event, task, line]) => expect(notificationHeadline(event, task)).toBe(line))

  test.for<[string, TaskRecord['diagnosis'], Partial<TaskRecord>, string]>([
    [
      'the version of the newer task',
      exampleDiagnosis('superseded'),
      { newest_since: { id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', status: 'deployed', images: images('1.3.0') } },
      'superseded by 1.3.0',
    ],
    [
      'the version in Git',
      { ...exampleDiagnosis('superseded'), superseded_by: { commit: '4f3c', tag: '1.4.0' } },
      {},
      'superseded in Git by 1.4.0',
    ],
    [
      'who cancelled it',
      { ...exampleDiagnosis('cancelled'), cancelled_by: { kind: 'oidc', name: 'grace' } },
      {},
      'on request of grace',
    ],
    ['a request', exampleDiagnosis('cancelled'), {}, 'on request'],
  ])('of a cancelled deployment names %s', ([, diagnosis, fields, words]) => {
    const task = aTask({ status: 'cancelled', ...(diagnosis && { diagnosis }), ...fields })
    expect(notificationHeadline('cancelled', task)).toContain(`in production: ${words} · `)
  })

  test.for([
    [{ old_pods: 2, old_pods_ready: 0 }, '1.1.0 does not serve'],
    [{ old_pods: 0, old_pods_ready: 0 }, 'no Pod of 1.1.0 is left'],
  ] as const)('says of the old version %#', ([impact, words]) => {
    const task = ended('crash_loop', { diagnosis: { ...exampleDiagnosis('crash_loop'), impact } })
    expect(notificationHeadline('failed', task)).toContain(` · ${words} · `)
  })

  test('calls the old version so where its tag is not known', () => {
    expect(notificationHeadline('failed', ended('crash_loop', { previous: undefined }))).toContain(
      ' · the old version still serves · ',
    )
    expect(notificationHeadline('failed', ended('suspended', { previous: undefined }))).toContain(
      ' · the stable version still serves · ',
    )
  })

  describe('is cut by meaning to 300 characters', () => {
    const full = { app: 'a'.repeat(255), author: 'b'.repeat(255), environment: 'c'.repeat(255) }

    test('names first, and the culprit never', () => {
      const line = notificationHeadline('failed', ended('crash_loop', full))
      expect(line.length).toBeLessThanOrEqual(300)
      expect(line).toBe(
        `✕ ${'a'.repeat(39)}… 1.2.0 failed in ${'c'.repeat(39)}…: Container web crashes on start (exit code 1, 4 times in 2 min) · 1.1.0 still serves · by ${'b'.repeat(39)}… · 48 s`,
      )
    })

    test('then the duration, the author and the old version', () => {
      const diagnosis = { ...exampleDiagnosis('crash_loop'), headline: `${'x'.repeat(119)}!` }
      const tag = 'd'.repeat(255)
      const line = notificationHeadline('failed', ended('crash_loop', { ...full, diagnosis, images: images(tag) }))
      expect(line).toContain(`: ${'x'.repeat(119)}!`)
      expect(line).not.toContain('48 s')
      expect(line).not.toContain('by b')
      expect(line.length).toBeLessThanOrEqual(300)
    })

    test('never through a character', () => {
      for (let length = 30; length < 60; length += 1) {
        const fields = { app: 'a'.repeat(length).concat('💥'.repeat(100)), author: '💥'.repeat(127) }
        const line = notificationHeadline('failed', ended('crash_loop', { ...fields, environment: '💥'.repeat(127) }))
        expect(line.isWellFormed()).toBe(true)
        expect(line).not.toContain('\ufffd')
        expect(line.length).toBeLessThanOrEqual(300)
      }
    })
  })

  test('is one line, whatever the names hold', () => {
    const hostile = 'a\r\nb\u2028c\u202ed\u0007'
    const fields = { app: hostile, author: hostile, environment: hostile, images: images(hostile) }
    expect(notificationHeadline('failed', aTask({ ...fields, ...withoutDiagnosis }))).not.toMatch(
      /[\p{Cc}\p{Zl}\p{Zp}\u202e]/u,
    )
  })
})

describe('the details', () => {
  test('of a crash', () => {
    const links = [{ kind: 'application' as const, url: 'https://argocd.example/shop' }]
    const task = ended('crash_loop', {
      app_url: 'https://argocd.example/shop',
      commit_url: 'https://git.example/commit/1',
      compare_url: 'https://git.example/compare/1',
      pod_log: { pod: 'web-1', lines: Array.from({ length: 30 }, (_, index) => `line ${index}\u001b[0m`) },
      diagnosis: { ...exampleDiagnosis('crash_loop'), links },
    })
    const { podLog, ...details } = notificationDetails('failed', task)
    expect(details).toEqual({
      change: '1.1.0 → 1.2.0',
      environment: 'production',
      culprit:
        'Pod web-74796dcf9f-8ggf2, container web: CrashLoopBackOff: back-off 1m20s restarting failed container=web pod=web-74796dcf9f-8ggf2',
      oldVersion: '1.1.0 still serves: 2 of 2 Pods ready',
      author: 'ada',
      seconds: 48,
      nextSteps: [
        'Next step (developer): Read the log of the container, then its configuration and secrets.',
        'Next step (developer): Fix it and deploy a new tag.',
      ],
      links: [
        { title: 'Argo CD', url: 'https://argocd.example/shop' },
        { title: 'Changes', url: 'https://git.example/compare/1' },
        { title: 'Commit', url: 'https://git.example/commit/1' },
      ],
    })
    expect(podLog).toHaveLength(20)
    expect(podLog?.at(-1)).toBe('line 29 [0m')
  })

  test('of a deployment that began have no end', () => {
    expect(notificationDetails('started', aTask({ status: 'in progress' }))).toMatchObject({
      change: '1.1.0 → 1.2.0',
      culprit: undefined,
      oldVersion: undefined,
      seconds: undefined,
      nextSteps: [],
      podLog: undefined,
    })
  })

  test('say what the headline leaves out', () => {
    expect(notificationDetails('failed', ended('app_not_found')).culprit).toBeUndefined()
    expect(notificationDetails('cancelled', ended('superseded')).culprit).toBe(
      'superseded by task 019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
    )
    expect(notificationDetails('failed', aTask(withoutDiagnosis)).culprit).toBe('The image cannot be pulled')
  })

  test.for([
    [images('2', '2'), deployed('1', '1'), '1 → 2'],
    [images('2', '1'), deployed('1', '1'), '1 → 2, 1 of 2 images'],
    [images('2', '3'), deployed('1', '1'), 'app0 1 → 2, app1 1 → 3'],
    [images('2', '3', '4', '5', '6'), deployed('1'), 'app0 1 → 2, app1 3, app2 4 and 2 more'],
    [images('1'), deployed('1'), '1'],
    [images('1'), undefined, '1'],
  ] as const)('change %#', ([now, previous, change]) => {
    expect(notificationDetails('succeeded', aTask({ images: [...now], previous })).change).toBe(change)
  })
})
