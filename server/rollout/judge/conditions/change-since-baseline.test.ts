import { describe, expect, test } from 'vitest'
import { type ApplicationFields, aSha } from '../../../../test/support/application-builder.ts'
import { custom, judge, type Look, monitored, pod, read, tree } from '../../../../test/support/judge-looks.ts'
import { nothingRefreshed } from '../input/rollout-observation.ts'

const v1 = 'registry.example/shop:v1'
const v2 = 'registry.example/shop:v2'
const answer = (version: number) => ({ beganAfterMs: 1, version })
/** A look after a refresh of ours was answered at `version`. */
const answered = (atMs: number, version: number, fields: Partial<Look> = {}): Look => {
  const refresh = { ...nothingRefreshed, lastAskedAtMs: atMs, answered: answer(version) }
  return { ...fields, atMs, version, seen: { directRead: read(atMs), refresh, ...fields.seen } }
}
const operation = (second: string, image: string, more: object = {}) => ({
  operationState: {
    phase: 'Succeeded',
    startedAt: `2026-11-21T15:00:0${second}Z`,
    finishedAt: `2026-11-21T15:00:0${second}Z`,
    syncResult: { revision: aSha('c'), resources: [{ kind: 'Deployment', name: 'shop', images: [image] }] },
    ...more,
  },
})
const refreshes = (looks: readonly Look[]) =>
  judge(looks, { writeBack: monitored }).actions.filter(({ kind }) => kind === 'refresh').length

describe('a pipeline that pushes after it submits (decision 0015): 5 s after acceptance', () => {
  const before: Look = { atMs: 0, version: 1, revision: aSha('a'), images: [v1], ...operation('1', v1) }
  const cases: readonly (ApplicationFields & { readonly name: string; readonly isAsked: boolean })[] = [
    { name: 'nothing is new', isAsked: true },
    { name: 'only the revision is new, as in a monorepo', revision: aSha('d'), isAsked: true },
    { name: 'the requested image is listed', images: [v1, v2], isAsked: false },
    { name: 'a later operation began', ...operation('3', v1, { phase: 'Running' }), isAsked: false },
  ]
  test.for(cases)('where $name, another refresh: $isAsked', ({ name: _, isAsked, ...fields }) => {
    const first = answered(300, 2, { ...before, version: 2 })
    const later = { ...first, ...fields, atMs: 5_400, version: 2 }
    expect(refreshes([before, first, later])).toBe(isAsked ? 1 : 0)
  })

  test('an image that is gone is not the change that is awaited', () => {
    const two: Look = { ...before, images: ['registry.example/shop:v0', v1] }
    const first = answered(300, 2, { ...two, version: 2 })
    expect(refreshes([two, first, { ...first, images: [v1], atMs: 5_400 }])).toBe(1)
  })
})

describe('without a commit of ours the settle time is', () => {
  const before: Look = { atMs: 0, version: 1, revision: aSha('a'), images: [v1], ...operation('1', v1) }
  const shown = (fields: Partial<Look>) => answered(9_000, 9, fields)
  const witnessed = answered(8_000, 8, { ...operation('5', v2), sync: 'OutOfSync' })
  const driftSynced = operation('7', v2, {
    syncResult: { revision: aSha('c'), resources: [{ kind: 'ConfigMap', name: 'shop' }] },
  })
  const cases: readonly { name: string; looks: readonly Look[]; settle: 0 | 2_000 | 5_000 }[] = [
    { name: 'a later operation applied the image', looks: [before, shown(operation('5', v2))], settle: 0 },
    {
      name: 'a second operation synced only what drifted',
      looks: [before, witnessed, shown(driftSynced)],
      settle: 0,
    },
    {
      name: 'another tag was applied since',
      looks: [before, witnessed, answered(8_500, 8, operation('6', v1)), shown(driftSynced)],
      settle: 2_000,
    },
    {
      name: 'only an operation that synced a drift was seen',
      looks: [before, shown(driftSynced)],
      settle: 2_000,
    },
    {
      name: 'a custom resource carries health',
      looks: [before, shown({ ...operation('5', v2), ...custom })],
      settle: 5_000,
    },
    {
      name: 'the image was there already',
      looks: [{ ...before, images: [v1, v2] }, shown(operation('5', v2))],
      settle: 2_000,
    },
    { name: 'the operation is the one from before', looks: [before, shown(operation('1', v2))], settle: 2_000 },
    {
      name: 'the operation applied another image',
      looks: [before, shown(operation('5', 'registry.example/other:v1'))],
      settle: 2_000,
    },
    {
      name: 'the operation worked on another revision',
      looks: [before, shown({ ...operation('5', v2), revision: aSha('d') })],
      settle: 2_000,
    },
    {
      name: 'the operation was a dry run',
      looks: [before, shown(operation('5', v2, { operation: { sync: { dryRun: true } } }))],
      settle: 2_000,
    },
  ]
  test.for(cases)('$settle ms where $name', ({ looks, settle }) => {
    const last = looks.at(-1) as Look
    const at = (atMs: number): Look => ({ ...last, atMs, seen: { ...last.seen, directRead: read(atMs) } })
    const endAfter = (ms: number) => judge([...looks, at(9_000 + ms)], { writeBack: monitored }).end?.status
    expect(endAfter(settle)).toBe('deployed')
    if (settle > 0) expect(endAfter(settle - 1)).toBeUndefined()
  })
})

describe('beside another tag of its image a requested tag that was there from the start', () => {
  const both: Look = { atMs: 0, version: 1, images: [v1, v2], ...operation('1', v2, { syncResult: undefined }) }
  const podsOf = (reason: string, version: number) => ({
    ...tree([pod(reason, { images: [v1] }), pod('Running')], 200),
    version,
  })
  const seen = (atMs: number, version: number, fields: Partial<Look> = {}) =>
    answered(atMs, version, { ...both, ...fields, version, seen: { tree: podsOf('Running', version), ...fields.seen } })
  const judged = (looks: readonly Look[], refresh = true) =>
    judge([both, ...looks], { writeBack: monitored, task: { refresh } })

  test('does not count: the commit that brings it to the other containers may come later', () => {
    const { end, progress } = judged([seen(300, 5), seen(9_000, 5)])
    expect(end).toBeUndefined()
    expect(progress).toContain(`${v2} runs beside ${v1}`)
  })

  test('has the Pods read, to learn whether those of the other tag are on their way out', () => {
    const unread = { seen: { tree: undefined } }
    expect(judged([seen(300, 5, unread), seen(9_000, 5, unread)]).actions).toContainEqual({ kind: 'tree' })
  })

  test.for([
    { name: 'the list changed', fields: { images: [v1, v2, 'registry.example/new:v1'] }, note: 'list of images' },
    { name: 'the revision changed', fields: { revision: aSha('d') }, note: 'the revision changed' },
    { name: 'an operation began', fields: operation('7', v2, { syncResult: undefined }), note: 'an operation began' },
  ])('counts when $name, and says so', ({ fields, note }) => {
    const { end } = judged([seen(300, 5), seen(9_000, 5, fields), seen(11_000, 5, fields)])
    expect(end).toMatchObject({ status: 'deployed', reason: expect.stringContaining(note) })
  })

  test.for([
    { name: '30 s with two refreshes', looks: [seen(300, 5), seen(5_300, 6)], untilMs: 30_000, refresh: true },
    { name: '60 s where no refresh may be asked', looks: [seen(300, 5)], untilMs: 60_000, refresh: false },
  ])('counts after $name that found nothing', ({ looks, untilMs, refresh }) => {
    const compared = { reconciledAt: '2026-11-21T15:00:20Z' }
    const again = { reconciledAt: '2026-11-21T15:00:40Z' }
    const all = [...looks, seen(8_000, 7, compared), seen(9_000, 8, again)]
    const settled = (atMs: number) => [...all, seen(atMs - 2_000, 8, again), seen(atMs, 8, again)]
    expect(judged(settled(untilMs - 1), refresh).end).toBeUndefined()
    const end = judged(settled(untilMs + 2_000), refresh).end
    expect(end).toMatchObject({ status: 'deployed', reason: expect.stringMatching(/found no change|nothing changed/) })
  })

  test.for(['Terminating', 'Completed'])('counts at once where the Pods of the other tag are %s', (reason) => {
    const ending = { seen: { tree: podsOf(reason, 5) } }
    expect(judged([seen(300, 5, ending), seen(2_300, 5, ending)]).end?.status).toBe('deployed')
  })

  test('counts at once where the last operation applied it alone: the other tag is left over', () => {
    const applied = operation('1', v2)
    const looks = [seen(300, 5, applied), seen(2_300, 5, applied)]
    expect(judge([{ ...both, ...applied }, ...looks], { writeBack: monitored }).end?.status).toBe('deployed')
  })
})
