import type { ExampleWorkload } from '../../simulator/model/example-repository.ts'
import type { FileChanges } from '../../simulator/model/memory-git.ts'
import type { NewApplicationSpec } from '../../simulator/model/new-application.ts'
import type { ApplicationScript, Shape } from './history-script.ts'

/** Tags of an application's two images, as one state of its repository sets them. */
export type Tags = { readonly main: string; readonly worker: string }

/** One application of a history and where its tags are written. */
export type ExampleApplication = ReturnType<typeof exampleApplication>

export const firstTags: Tags = { main: 'v1', worker: 'v1' }

export function exampleApplication(name: string, script: ApplicationScript) {
  const { isMultiSource } = script
  return {
    name,
    script,
    images: { main: `registry.example/${name}`, worker: `registry.example/${name}-worker` },
    /** The repository and the file that a write-back changes. */
    repository: isMultiSource ? 'values' : 'gitops',
    overrideFile: isMultiSource ? `${name}/tags.yaml` : `${name}/.argocd-source-${name}.yaml`,
    renderOverride: isMultiSource ? renderValues : renderParameters,
    hasWorker: JSON.stringify(workloadsOf(name, script.shape)).includes('-worker:'),
    chart: chartOf(name, script.shape),
    spec: specOf(name, script),
  }
}

function chartOf(name: string, shape: Shape): FileChanges {
  return {
    [`${name}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`,
    [`${name}/values.yaml`]: renderValues(firstTags),
    [`${name}/workloads.yaml`]: `workloads: ${JSON.stringify(workloadsOf(name, shape))}\n`,
  }
}

function workloadsOf(name: string, shape: Shape): readonly ExampleWorkload[] {
  const image = `registry.example/${name}:\${image.tag}`
  const worker = { kind: 'Deployment', name: `${name}-worker`, image: `registry.example/${name}-worker:\${worker.tag}` }
  const main = { kind: 'Deployment', image, replicas: 2 }
  const hook = { kind: 'Job', name: `${name}-hook`, image }
  switch (shape) {
    case 'deployment':
      return [main]
    case 'two-deployments':
      return [main, worker]
    case 'stateful-set':
      return [{ ...main, kind: 'StatefulSet' }]
    case 'on-delete':
      return [{ ...main, kind: 'StatefulSet', updateStrategy: 'OnDelete' }]
    case 'daemon-set':
      return [{ ...main, kind: 'DaemonSet' }, worker]
    case 'cron-job':
      return [{ kind: 'CronJob', image, schedule: '* * * * *' }]
    case 'cron-job-by-hand':
      return [{ kind: 'CronJob', image, schedule: '0 0 1 1 *' }, worker]
    case 'scaled-to-zero':
      return [{ ...main, replicas: 0 }]
    case 'pre-sync-job':
      return [main, { ...hook, hook: 'PreSync' }]
    case 'post-sync-job':
      return [main, { ...hook, hook: 'PostSync' }]
    case 'pinned-beside-a-hook':
      return [
        { ...main, image: `registry.example/${name}:${firstTags.main}` },
        { ...hook, hook: 'PreSync' },
        // Without it the new tag would leave nothing to sync, and hooks run in a sync.
        { kind: 'Deployment', name: `${name}-proxy`, image: `registry.example/${name}-proxy:\${image.tag}` },
      ]
    case 'waves':
      return [
        { ...worker, wave: 0 },
        { ...main, wave: 1 },
      ]
    case 'custom-resource':
      return [{ ...main, kind: 'Widget' }]
    case 'paused-rollout':
      return [{ ...main, kind: 'Rollout', pause: true }]
  }
}

function renderValues({ main, worker }: Tags): string {
  return `image:\n  tag: "${main}"\nworker:\n  tag: "${worker}"\n`
}

function renderParameters({ main, worker }: Tags): string {
  const parameter = (key: string, tag: string) => `    - name: ${key}\n      value: "${tag}"\n      forceString: true\n`
  return `helm:\n  parameters:\n${parameter('image.tag', main)}${parameter('worker.tag', worker)}`
}

function specOf(name: string, { isMultiSource, sync, retryLimit, hasNarrowPaths, start }: ApplicationScript) {
  const chart = { repoURL: 'gitops', path: name, targetRevision: 'main' }
  const automated = { prune: true, selfHeal: sync === 'automated' }
  const spec: NewApplicationSpec = {
    name,
    sources: isMultiSource
      ? [
          { ...chart, helm: { valueFiles: [`$values/${name}/tags.yaml`], ignoreMissingValueFiles: true } },
          { repoURL: 'values', targetRevision: 'main', ref: 'values' },
        ]
      : [chart],
    syncPolicy: { ...(sync === 'manual' ? {} : { automated }), retry: { limit: retryLimit } },
    annotations: hasNarrowPaths ? { 'argocd.argoproj.io/manifest-generate-paths': 'workloads.yaml' } : {},
    start: start === 'settled' ? 'settled' : 'empty',
  }
  return spec
}
