import { chartFiles } from './model/example-repository.ts'
import type { Simulator } from './simulator.ts'

const repository = 'gitops'
const firstTag = '1.0.0'

type DemoApplication = { name: string; image: string; note: string; failsOnNewTags: boolean }

const demoApplications: readonly DemoApplication[] = [
  {
    name: 'shop',
    image: 'registry.example/shop',
    note: 'rolls out in a few seconds',
    failsOnNewTags: false,
  },
  {
    name: 'payments',
    image: 'registry.example/payments',
    note: 'no new tag can be pulled: ErrImagePull, then ImagePullBackOff',
    failsOnNewTags: true,
  },
]

/** Two applications in one repository. A repository that is there already is kept, and its state is what runs. */
export async function startDemo(simulator: Simulator) {
  const files = Object.assign({}, ...demoApplications.map(({ name, image }) => demoChart(name, image)))
  const repositoryUrl = await simulator.git.createRepository(repository, files, { message: 'Start of the demo' })
  for (const { name, image, failsOnNewTags } of demoApplications) {
    if (failsOnNewTags) {
      simulator.control.overridePods(name, { newPods: 'image-pull-error', except: [`${image}:${firstTag}`] })
    }
    await simulator.control.createApplication({
      name,
      source: { repository, path: `apps/${name}`, targetRevision: 'main' },
      annotations: {
        'watcher/managed': 'true',
        'watcher/managed-images': `${name}=${image}`,
        [`watcher/${name}.helm.image-tag`]: 'image.tag',
      },
    })
  }
  return {
    repository: repositoryUrl,
    applications: demoApplications.map(({ name, image, note }) => ({ name, image, tag: firstTag, note })),
    missing: 'no-such-application',
  }
}

function demoChart(name: string, image: string) {
  const workloads = [{ kind: 'Service' }, { kind: 'Deployment', replicas: 2, image: `${image}:\${image.tag}` }]
  return chartFiles(`apps/${name}`, { tag: firstTag, workloads })
}
