import { describe, expect, test } from 'vitest'
import { type Cause, causeCodes, type NextStep } from '../causes.ts'
import type { Culprit } from '../diagnosis.ts'
import { exampleDiagnosis } from './example-diagnoses.ts'
import { nextStepsFor } from './next-steps.ts'

const culprit = (blamed: Partial<Culprit>): Culprit => ({
  kind: 'Application',
  namespace: 'shop',
  name: 'shop',
  message: '',
  ...blamed,
})
const steps = (cause: Cause, blamed: Partial<Culprit>) => nextStepsFor(cause, culprit(blamed))
const textOf = (found: readonly NextStep[]) => found.map(({ text }) => text).join(' ')

const compared =
  'ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: '

type Row = readonly [cause: Cause, blamed: Partial<Culprit>, actor: NextStep['actor'], says: RegExp]

const rows: readonly Row[] = [
  [
    'comparison_error',
    { message: "application destination {https://kubernetes.default.svc shop} is not permitted in project 'team'" },
    'platform_team',
    /AppProject/,
  ],
  [
    'comparison_error',
    { message: 'app is not allowed in project "team", or the project does not exist' },
    'platform_team',
    /AppProject/,
  ],
  ['sync_error', { message: 'resource :Namespace is not permitted in project team' }, 'platform_team', /AppProject/],
  [
    'comparison_error',
    { message: `${compared}code = Unknown desc = unable to resolve 'main' to a commit SHA` },
    'developer',
    /targetRevision/,
  ],
  [
    'comparison_error',
    {
      message: `${compared}code = Unknown desc = failed to list refs: repository not found: https://git.example/a.git`,
    },
    'platform_team',
    /repository/,
  ],
  [
    'comparison_error',
    {
      message: `${compared}code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp: lookup argocd-repo-server: no such host"`,
    },
    'platform_team',
    /repo server/,
  ],
  [
    'sync_error',
    {
      message:
        'Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: connection refused',
    },
    'platform_team',
    /webhook runs/,
  ],
  [
    'sync_error',
    { message: 'exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2' },
    'platform_team',
    /quota/,
  ],
  [
    'quota_exceeded',
    { message: 'exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2' },
    'platform_team',
    /quota/,
  ],
  ['unschedulable', { message: '0/3 nodes are available: 3 Insufficient cpu.' }, 'platform_team', /node/],
  ['degraded', { kind: 'Deployment', name: 'worker', before_deployment: true }, 'developer', /before this deployment/],
  ['crash_loop', { kind: 'Pod', container: 'worker', before_deployment: true }, 'developer', /before this deployment/],
  ['degraded', { kind: 'Certificate', name: 'shop', message: 'Issuer not ready' }, 'developer', /Certificate shop/],
  [
    'hook_failed',
    { kind: 'Job', message: 'failed calling webhook "a.example": refused' },
    'platform_team',
    /webhook runs/,
  ],
  ['timeout', { kind: 'Ingress', name: 'shop' }, 'platform_team', /Ingress shop/],
  [
    'volume_unavailable',
    { kind: 'PersistentVolumeClaim', message: 'storageclass "fast" not found' },
    'platform_team',
    /storage class/,
  ],
  ['image_pull', { message: 'Failed to pull image "a:1": toomanyrequests: rate limit' }, 'platform_team', /rate limit/],
  ['image_pull', { message: 'Failed to pull image "a:1": 401 Unauthorized' }, 'platform_team', /pull secret/],
  ['container_config', { reason: 'FailedCreatePodSandBox', message: 'no more free IPs' }, 'platform_team', /network/],
]

describe('the first step goes to who can take it', () => {
  test.for(rows)('%s %o: %s', ([cause, blamed, actor, says]) => {
    const [first] = steps(cause, blamed)
    expect(first).toEqual({ actor, text: expect.stringMatching(says) })
  })

  test.for(rows)('and %s %o never names the image or the manifests', ([cause, blamed]) =>
    expect(textOf(steps(cause, blamed))).not.toMatch(/fixed image|fix the manifests/i),
  )
})

describe('where the image or the manifests are at fault, the developer repairs them', () => {
  test.for<Row>([
    ['image_pull', { message: 'Failed to pull image "a:1": a:1: not found' }, 'developer', /tag exists/],
    ['crash_loop', { container: 'web', exit_code: 1 }, 'developer', /log of the container/],
    ['crash_loop', { container: 'web', reason: 'OOMKilled' }, 'developer', /memory limit/],
    ['crash_loop', { container: 'web', probe: 'liveness' }, 'developer', /liveness probe/],
    [
      'container_config',
      { reason: 'CreateContainerError', message: 'mkdir /srv: read-only file system' },
      'developer',
      /what the message names/,
    ],
    ['container_config', { message: 'secret "shop-database" not found' }, 'developer', /Create the Secret/],
    [
      'comparison_error',
      { message: `${compared}code = Unknown desc = multiple application sources defined` },
      'developer',
      /manifests/,
    ],
    ['sync_error', { message: 'admission webhook "a.example" denied the request: no owner' }, 'developer', /in Git/],
    [
      'admission_denied',
      { message: 'violates PodSecurity "restricted:latest": runAsNonRoot != true' },
      'developer',
      /in Git/,
    ],
    ['hook_failed', { kind: 'Job', name: 'migrate' }, 'developer', /Job migrate/],
    ['operation_waiting', { kind: 'Deployment', name: 'db' }, 'developer', /Deployment db/],
    [
      'operation_waiting',
      { message: 'waiting for pruning confirmation of /Pod/a' },
      'developer',
      /Confirm the pruning/,
    ],
  ])('%s %o', ([cause, blamed, actor, says]) =>
    expect(steps(cause, blamed)[0]).toEqual({ actor, text: expect.stringMatching(says) }),
  )
})

test.for<readonly [Cause, Partial<Culprit>, string]>([
  ['rollout_aborted', { kind: 'Rollout' }, 'kubectl argo rollouts retry rollout shop -n shop'],
  [
    'analysis_failed',
    { kind: 'AnalysisRun', name: 'shop-7d9f8c6b5-3-1' },
    'kubectl argo rollouts retry rollout shop -n shop',
  ],
  ['suspended', { kind: 'Rollout', reason: 'CanaryPauseStep' }, 'kubectl argo rollouts promote shop -n shop'],
  ['suspended', { kind: 'Rollout', reason: 'BlueGreenPause', namespace: '' }, 'kubectl argo rollouts promote shop'],
])('%s %o gives the command: %s', ([cause, blamed, command]) => {
  expect(steps(cause, blamed).some(({ text }) => text.endsWith(command))).toBe(true)
})

test('a suspended resource without a pause of Argo Rollouts has no such command', () =>
  expect(textOf(steps('suspended', { kind: 'CronJob' }))).not.toContain('kubectl'))

const all = new Set(
  [
    ...causeCodes.flatMap((cause) => [...nextStepsFor(cause, undefined), ...exampleDiagnosis(cause).next_steps]),
    ...rows.flatMap(([cause, blamed]) => steps(cause, blamed)),
  ].map(({ text }) => text),
)

describe('a next step', () => {
  test.for([...all])('"%s" is made of sentences of at most 25 words', (text) => {
    for (const sentence of text.split(/[.;] ?/)) expect(sentence.split(' ').length).toBeLessThanOrEqual(25)
  })

  test('never says to deploy again as it was: the same tag makes no commit', () => {
    for (const text of all) expect(text).not.toMatch(/redeploy|deploy (?:it )?again/i)
  })
})
