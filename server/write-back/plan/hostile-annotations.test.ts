import { describe, expect, test } from 'vitest'
import {
  branchPayloads,
  fileNamePayloads,
  type Payloads,
  pathPayloads,
  repositoryPayloads,
} from '../../../test/security/hostile-annotations.ts'
import { planSettings } from '../../../test/support/write-back-settings.ts'
import { planWriteBack, type WriteBackTask } from './plan-write-back.ts'

const settings = planSettings({
  gitCredentials: () => new Map([['git.example', { user: 'bot', password: 'token' }]]),
  annotationPrefixes: ['watcher/', 'argo-watcher/'],
})
const task: WriteBackTask = {
  id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
  app: 'shop',
  author: 'ada',
  project: 'shop',
  images: [{ image: 'registry.example/shop', tag: 'v2' }],
  mayWrite: true,
}
const source = {
  repository: 'ssh://git@git.example/gitops.git',
  targetRevision: 'main',
  path: 'apps/shop',
  chart: undefined,
  ref: undefined,
  helmParameters: [],
  helmValueFiles: [],
  helmInlineValues: { object: {}, text: '' },
  kustomizeImages: [],
}
/** Of an application all of whose annotations are good but this one. */
function planWith(name: string, payload: string) {
  const annotations = {
    'watcher/managed': 'true',
    'watcher/managed-images': 'main=registry.example/shop',
    'watcher/main.helm.image-tag': 'image.tag',
    'watcher/write-back-repo': source.repository,
    'watcher/write-back-branch': 'main',
    'watcher/write-back-path': 'apps/shop',
    [`watcher/${name}`]: payload,
  }
  const application = {
    name: 'shop',
    namespace: 'argocd',
    annotations: new Map(Object.entries(annotations)),
    sources: [source, { ...source, path: 'apps/other' }],
    isMultiSource: true,
    sourceTypes: [],
  }
  return planWriteBack(task, application, settings)
}

const ground = { marker: () => '/tmp/marker', port: 22, repositories: '/srv/git' }

/** By the row of docs/spec/cases.md; of some rows a few payloads are odd, but good. */
describe.for<[string, Payloads, string, Readonly<Record<string, number>>]>([
  ['write-back-repo', repositoryPayloads(ground), 'repository address not allowed', {}],
  ['write-back-branch', branchPayloads(ground), 'write-back-branch', {}],
  ['write-back-path', pathPayloads(ground), 'write-back-path', { B68: 31 }],
  ['write-back-filename', fileNamePayloads(ground), 'write-back-filename', { B69: 9 }],
])('a hostile %s fails before any process starts', ([name, payloads, says, good]) => {
  test.for(payloads)('%s', ([row, all]) => {
    const plans = all.map((payload) => ({ payload, plan: planWith(name, payload) }))
    const refused = plans.filter(({ plan }) => plan.kind === 'refused')
    expect(plans.length - refused.length).toBe(good[row] ?? 0)
    expect(refused.filter(({ plan }) => !(plan.kind === 'refused' && plan.reason.includes(says)))).toEqual([])
  })
})

/** Those that are good as a path or a name of the repository are of no file of the application, or of one of its own. */
describe.for<[string, (payload: string) => string]>([
  ['helmvalues with a file', (payload) => `helmvalues:${payload}`],
  ['helmvalues from the root', (payload) => `helmvalues:/${payload}/values.yaml`],
  ['yaml with a file below another', (payload) => `yaml:${payload}/deployment.yaml`],
  ['kustomization', (payload) => `kustomization:${payload}`],
  ['a path of a ref', (payload) => `helmvalues:$values/${payload}`],
])('a hostile write-back-target %s commits to nothing but files of the application', ([, target]) => {
  test.for([...pathPayloads(ground), ...fileNamePayloads(ground)])('%s', ([, all]) => {
    for (const payload of all) {
      const plan = planWith('write-back-target', target(payload))
      if (plan.kind === 'write') {
        expect(plan.plan.file).toMatch(/^apps\/(?:shop|other)\/.*\.ya?ml$/)
        expect(plan.plan.file).not.toMatch(/\p{Cc}|(?:^|\/)(?:\.\.(?:\/|$)|\.git)/u)
      } else
        expect(plan).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/write-back-target|main\.helm/) })
    }
  })
})
