import { describe, expect, test } from 'vitest'
import { planSettings } from '../../../test/support/write-back-settings.ts'
import type { ApplicationSource, WriteBackApplication } from './application-source.ts'
import { planWriteBack, type WriteBackTask } from './plan-write-back.ts'
import type { WriteBackSettings } from './write-back-settings.ts'

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
const managed = {
  'watcher/managed': 'true',
  'watcher/managed-images': 'app=registry.example/shop',
  'watcher/app.helm.image-tag': 'image.tag',
}
const toRepository = {
  'watcher/write-back-repo': 'git@git.example:team/deploy.git',
  'watcher/write-back-branch': 'main',
  'watcher/write-back-path': 'apps/shop',
}

function aSource(source: Partial<ApplicationSource> = {}): ApplicationSource {
  return {
    repository: 'ssh://git@git.example/team/deploy.git',
    targetRevision: 'main',
    path: 'apps/shop',
    chart: undefined,
    ref: undefined,
    helmParameters: [],
    helmValueFiles: [],
    helmInlineValues: { object: {}, text: '' },
    kustomizeImages: [],
    ...source,
  }
}

type Example = {
  annotations?: Record<string, string>
  name?: string
  namespace?: string
  sources?: ApplicationSource[]
  sourceTypes?: string[]
}

function anApplication({
  annotations = {},
  name = 'shop',
  namespace = 'argocd',
  sources,
  sourceTypes = [],
}: Example = {}) {
  const application: WriteBackApplication = {
    name,
    namespace,
    annotations: new Map(Object.entries({ ...managed, ...annotations })),
    sources: sources ?? [aSource()],
    isMultiSource: (sources ?? []).length > 1,
    sourceTypes,
  }
  return application
}

const chart = aSource({ repository: 'https://charts.example', chart: 'shop', targetRevision: '1.2.3', path: '' })
const several = (source: Partial<ApplicationSource> = {}) => [chart, aSource(source)]
const plan = (example: Example = {}, change: Partial<WriteBackSettings> = {}) =>
  planWriteBack(task, anApplication(example), { ...settings, ...change })

describe('a source that is no Helm chart gets no Helm parameters', () => {
  const refusal = (type: string) => ({
    kind: 'refused',
    cause: 'annotation_invalid',
    reason: expect.stringMatching(new RegExp(`"apps/shop" is of type ${type}, not a Helm chart`)),
  })
  test.for(['Kustomize', 'Directory', 'Plugin'])('%s is refused before any commit', (type) => {
    expect(plan({ sourceTypes: [type] })).toEqual(refusal(type))
    const example = { annotations: toRepository, sources: several() }
    expect(plan({ ...example, sourceTypes: ['Helm', type] })).toEqual(refusal(type))
  })
  test.for([
    { sourceTypes: [] },
    { sourceTypes: [''] },
    { sourceTypes: ['Helm'] },
    { sourceTypes: ['Kustomize', 'Helm'], sources: several() },
    { sourceTypes: ['Kustomize', 'Kustomize'], sources: several({ path: 'elsewhere' }) },
  ])('$sourceTypes is written to', (example) => {
    expect(plan({ ...example, annotations: toRepository })).toMatchObject({ kind: 'write' })
  })
})

describe('an image of a kustomization', () => {
  const kustomized = (name: string, others: Record<string, string> = {}) => {
    const { 'watcher/app.helm.image-tag': _, ...rest } = managed
    return { ...rest, 'watcher/app.kustomize.image-name': name, ...others }
  }
  const decide = (annotations: Record<string, string>, example: Example = {}, change: Partial<WriteBackTask> = {}) => {
    const application = { ...anApplication(example), annotations: new Map(Object.entries(annotations)) }
    return planWriteBack({ ...task, ...change }, application, settings)
  }
  const image = 'registry.example/shop'

  test.for([
    { name: 'shop', value: `shop=${image}:v2` },
    { name: image, value: `${image}:v2` },
  ])('that is called $name becomes $value; those of the source go along', ({ name, value }) => {
    const kustomizeImages = ['a=b:1', 'localhost:5000/c:2', 'd@sha256:00']
    const sources = [aSource({ kustomizeImages, helmParameters: [{ name: 'x', value: '1', forceString: true }] })]
    expect(decide(kustomized(name), { sources, sourceTypes: ['Kustomize'] })).toMatchObject({
      kind: 'write',
      plan: {
        tool: 'kustomize',
        entries: [{ name, value, image }],
        sourceEntries: [
          { name: 'a', value: 'a=b:1', forceString: false },
          { name: 'localhost:5000/c', value: 'localhost:5000/c:2', forceString: false },
          { name: 'd', value: 'd@sha256:00', forceString: false },
        ],
      },
    })
  })

  test.for(['Helm', 'Directory', 'Plugin'])('is refused before any commit for a source of type %s', (type) => {
    expect(decide(kustomized('shop'), { sourceTypes: [type] })).toEqual({
      kind: 'refused',
      cause: 'annotation_invalid',
      reason: expect.stringContaining(`"apps/shop" is of type ${type}, not a kustomization`),
    })
  })

  const two = [
    { image, tag: 'v2' },
    { image: 'registry.example/job', tag: 'v2' },
  ]
  const withJob = { 'watcher/managed-images': `app=${image},job=registry.example/job` }
  test.for([
    {
      what: 'a tag that Kustomize would read otherwise',
      images: [{ image, tag: 'a=b' }],
      others: {},
      says: 'app.kustomize',
    },
    {
      what: 'two images of one name',
      images: two,
      others: { ...withJob, 'watcher/job.kustomize.image-name': 'shop' },
      says: 'two images of the task share the place shop',
    },
    {
      what: 'a Helm parameter beside it',
      images: two,
      others: { ...withJob, 'watcher/job.helm.image-tag': 'job.tag' },
      says: 'annotations for Helm and for Kustomize',
    },
    {
      what: 'both annotations for one alias',
      images: two,
      others: { 'watcher/app.helm.image-tag': 'image.tag' },
      says: 'app.helm.image-tag and app.kustomize.image-name',
    },
  ])('is refused with $what', ({ images, others, says }) => {
    const reason = expect.stringContaining(says)
    expect(decide(kustomized('shop', others), {}, { images })).toEqual({
      kind: 'refused',
      cause: 'annotation_invalid',
      reason,
    })
  })
})

describe('a single-source application (spec 2.6, rule 1)', () => {
  test('several sources need the place to write to, and one source ignores it (B70; one source)', () => {
    const decision = plan({ annotations: { ...toRepository, 'watcher/write-back-path': '../elsewhere' } })
    expect(decision).toEqual({
      kind: 'write',
      plan: {
        app: 'shop',
        repository: 'ssh://git@git.example/team/deploy.git',
        address: 'ssh://git@git.example/team/deploy.git',
        branch: 'main',
        file: 'apps/shop/.watcher-source-shop.yaml',
        tool: 'helm',
        entries: [{ name: 'image.tag', value: 'v2', image: 'registry.example/shop' }],
        sourceEntries: [],
        filesBeside: ['apps/shop/.argocd-source.yaml'],
        message: `watcher(shop): update image tag\n\nWatcher-Task: ${task.id}\n`,
      },
      warnings: [],
    })
  })

  test.for([
    { targetRevision: '', branch: 'HEAD' },
    { targetRevision: 'HEAD', branch: 'HEAD' },
    { targetRevision: 'refs/heads/release/1', branch: 'release/1' },
    { targetRevision: 'v1.2', branch: 'v1.2' },
  ])('B71 targetRevision $targetRevision means the branch $branch', ({ targetRevision, branch }) => {
    expect(plan({ sources: [aSource({ targetRevision })] })).toMatchObject({ kind: 'write', plan: { branch } })
  })

  test.for([
    { source: { targetRevision: 'refs/tags/v1' }, says: 'needs a branch' },
    { source: { targetRevision: '0123456789abcdef0123456789abcdef01234567' }, says: 'needs a branch' },
    { source: { targetRevision: '>= 1.0 < 2' }, says: 'needs a branch' },
    { source: { targetRevision: '1.*' }, says: 'needs a branch' },
    { source: { targetRevision: '~1.2' }, says: 'needs a branch' },
    { source: { targetRevision: '--force' }, says: 'needs a branch' },
    { source: { targetRevision: '+main' }, says: 'needs a branch' },
    { source: { chart: 'shop' }, says: 'is not a git repository' },
    { source: { repository: 'oci://registry.example/charts' }, says: 'is not a git repository' },
    { source: { path: '../x' }, says: 'the path of the source' },
  ])(
    `targetRevision HEAD is the default branch, and a tag, commit, range or chart fails (B71) ($source: $says)`,
    ({ source, says }) => {
      expect(plan({ sources: [aSource(source)] })).toMatchObject({
        kind: 'refused',
        cause: 'not_followed',
        reason: expect.stringContaining(says),
      })
    },
  )

  test('the parameters of the source go along, as the list in the file replaces them', () => {
    const helmParameters = [{ name: 'replicas', value: '2', forceString: false }]
    expect(plan({ sources: [aSource({ helmParameters })] })).toMatchObject({
      plan: { sourceEntries: helmParameters },
    })
  })
})

describe('a multi-source application (spec 2.6, rule 2)', () => {
  test('is written where the annotations say', () => {
    expect(plan({ sources: several(), annotations: toRepository })).toMatchObject({
      kind: 'write',
      plan: {
        repository: 'git@git.example:team/deploy.git',
        branch: 'main',
        file: 'apps/shop/.watcher-source-shop.yaml',
      },
      warnings: [],
    })
  })

  test('several sources need the place to write to, and one source ignores it (B70; several sources)', () => {
    const decision = plan({ sources: several(), annotations: { 'watcher/write-back-branch': 'main' } })
    expect(decision).toMatchObject({
      kind: 'refused',
      cause: 'annotation_invalid',
      reason: expect.stringMatching(/write-back-repo, write-back-path$/),
    })
  })

  test('a source over https is the same repository', () => {
    const sources = several({ repository: 'https://Git.example/team/deploy' })
    expect(plan({ sources, annotations: toRepository })).toMatchObject({ kind: 'write' })
  })

  test('a directory that no source reads is written all the same, with a warning', () => {
    const decision = plan({ sources: several({ path: 'elsewhere' }), annotations: toRepository })
    expect(decision).toMatchObject({ kind: 'write', warnings: [expect.stringContaining('no source')] })
  })

  test.for([
    { repository: 'git@other.example:team/deploy.git' },
    { targetRevision: 'other' },
    { targetRevision: 'refs/tags/x' },
  ])('whose sources are %j is refused as not followed', (source) => {
    const decision = plan({ sources: several(source), annotations: toRepository })
    expect(decision).toMatchObject({ kind: 'refused', cause: 'not_followed' })
  })

  test.for([
    '--upload-pack=touch x',
    'ext::sh -c touch',
    'fd::17',
    'file:///srv/x.git',
    '/srv/x.git',
    './x',
    'http://git.example/x',
    'git://git.example/x',
    'transport::git.example',
    'ssh://-oProxyCommand=x/y',
    'ssh://-l@git.example/x',
    '-lroot@git.example:x',
    'ssh://git@git.%h/x',
    'git@git.example:x\ny',
    'git@git.example:x\0y',
    'ssh://git@git.example:70000/x',
    'https://user:secret@git.example/x',
    'git@git.example:../x',
    'git@git.example:x y',
    'git@git.example:-x',
    '',
    'git@git.example:$(id)',
    "git@git.example:'x",
    'ssh://git@git.example/x;id',
    'ssh://git@[::1]/x',
    'https://git.example/x?y=z',
    'https://git.example/team/%2e%2e/other',
    'https://git.example/te%61m/x',
  ])(
    'T10, T11, T12, B66 write-back-repo %j is refused before anything runs: "repository address not allowed"',
    (address) => {
      const decision = plan({
        sources: several(),
        annotations: { ...toRepository, 'watcher/write-back-repo': address },
      })
      expect(decision).toMatchObject({
        kind: 'refused',
        cause: 'annotation_invalid',
        reason: expect.stringContaining('repository address not allowed'),
      })
      expect(decision).not.toMatchObject({ reason: expect.stringContaining('secret') })
    },
  )

  test.for([
    { source: 'write-back-repo', sources: several(), cause: 'annotation_invalid' },
    {
      source: 'repoURL',
      sources: [aSource({ repository: 'https://git.example/team/%2e%2e/x.git' })],
      cause: 'git_refused',
    },
  ])('names $source and the rule where an address is percent-encoded', ({ source, sources, cause }) => {
    const address = { 'watcher/write-back-repo': 'https://git.example/team/%2e%2e/x.git' }
    const decision = plan(
      { sources, annotations: { ...toRepository, ...address } },
      { allowedRepos: ['git.example/team'] },
    )
    expect(decision).toMatchObject({
      kind: 'refused',
      cause,
      reason: `${source}: repository address not allowed: only %20 may be percent-encoded`,
    })
  })

  test.for([
    '+main',
    ':main',
    'a:b',
    '@',
    'HEAD',
    'refs/tags/x',
    'refs/heads/main',
    '',
    '-f',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a.lock',
    'a/',
    '/a',
    'a//b',
    '.a',
    'a/.b',
    'a@{1}',
    'a\\b',
    'a\nb',
    'a*',
    'a?',
    'a[',
    'x'.repeat(256),
    'main\0',
    'a.',
  ])('T13, B67 write-back-branch %j is refused, naming it', (branch) => {
    const decision = plan({ sources: several(), annotations: { ...toRepository, 'watcher/write-back-branch': branch } })
    expect(decision).toMatchObject({
      cause: 'annotation_invalid',
      reason: expect.stringContaining('write-back-branch'),
    })
  })

  test.for([
    { path: '.', file: '.watcher-source-shop.yaml' },
    { path: '', file: '.watcher-source-shop.yaml' },
    { path: './x', file: 'x/.watcher-source-shop.yaml' },
    { path: 'x/', file: 'x/.watcher-source-shop.yaml' },
    { path: 'a/./b', file: 'a/b/.watcher-source-shop.yaml' },
    { path: 'a//b', file: 'a/b/.watcher-source-shop.yaml' },
    { path: '/a', file: 'a/.watcher-source-shop.yaml' },
  ])('B68 write-back-path $path is normalised', ({ path, file }) => {
    const decision = plan({ sources: several(), annotations: { ...toRepository, 'watcher/write-back-path': path } })
    expect(decision).toMatchObject({ kind: 'write', plan: { file } })
  })

  test.for([
    '../x',
    'a/../../x',
    'a/..',
    '.git/config',
    '.GIT',
    'a/.git',
    '.git.',
    '.git ',
    'git~1',
    'GIT~1/x',
    '.g\u200cit',
    'a\\b',
    'a\nb',
    'a\0b',
    '.git::$INDEX_ALLOCATION',
    '.gitmodules',
    'x/'.repeat(70),
    'x'.repeat(4096),
    'u\u0308',
    'a\ufffdb',
  ])('T14, B68 write-back-path %j is refused, naming it', (path) => {
    const decision = plan({ sources: several(), annotations: { ...toRepository, 'watcher/write-back-path': path } })
    expect(decision).toMatchObject({ cause: 'annotation_invalid', reason: expect.stringContaining('write-back-path') })
  })
})

describe('a hidden directory', () => {
  const toPath = (path: string, source: Partial<ApplicationSource> = {}) =>
    plan({ sources: several(source), annotations: { ...toRepository, 'watcher/write-back-path': path } })
  const refusal = (reason: string) => ({ kind: 'refused', cause: 'annotation_invalid', reason })

  test.for([
    { path: '.deploy/shop', source: { path: '.deploy/shop' } },
    { path: '.deploy', source: { path: '.deploy/shop' } },
    { path: 'a/.b/c', source: { path: './a//.b' } },
  ])('that the path of a source names is entered: $path of $source.path', ({ path, source }) => {
    expect(toPath(path, source)).toMatchObject({ kind: 'write', plan: { file: `${path}/.watcher-source-shop.yaml` } })
  })

  test.for([
    { path: '.deploy', source: {}, hidden: '.deploy' },
    { path: 'apps/.x/y', source: { path: 'apps' }, hidden: 'apps/.x' },
    { path: '.x/y', source: { path: 'apps/.x' }, hidden: '.x' },
    { path: '.a/.b', source: { path: '.a' }, hidden: '.a/.b' },
    { path: '.a', source: { path: '.ab' }, hidden: '.a' },
    { path: '...', source: {}, hidden: '...' },
  ])('that no path of a source names is not: $path of $source.path', ({ path, source, hidden }) => {
    const why = `enters the hidden directory "${hidden}", which no source of the application has in its path`
    expect(toPath(path, source)).toEqual(refusal(`write-back-path "${path}" ${why}`))
  })

  test('is not named by the source of another repository', () => {
    const sources = [...several(), aSource({ repository: 'git@git.example:team/other.git', path: '.deploy' })]
    const annotations = { ...toRepository, 'watcher/write-back-path': '.deploy' }
    expect(plan({ sources, annotations })).toMatchObject({ kind: 'refused', cause: 'annotation_invalid' })
  })

  test('is entered where the only source lies in it', () => {
    expect(plan({ sources: [aSource({ path: '.deploy/shop' })] })).toMatchObject({
      plan: { file: '.deploy/shop/.watcher-source-shop.yaml' },
    })
  })

  test.for(['.github', '.github/workflows', 'a/.gitea/b', '.Forgejo/workflows', 'a/.GITLAB', '.circleci'])(
    'of pipelines is never entered: %s',
    (path) => {
      const [hidden = ''] = path.split('/').filter((segment) => segment.startsWith('.'))
      const why = `enters "${hidden}", where nothing is committed`
      expect(toPath(path, { path })).toEqual(refusal(`write-back-path "${path}" ${why}`))
      expect(plan({ sources: [aSource({ path })] })).toEqual(
        refusal(`managed: the path of the source "${path}" ${why}`),
      )
    },
  )
})

describe('the name of the override file', () => {
  test.for([
    { example: { name: 'Shop' }, file: 'apps/shop/.watcher-source-shop.yaml' },
    { example: { namespace: 'team-a' }, file: 'apps/shop/.watcher-source-team-a_shop.yaml' },
    { example: { annotations: { 'watcher/write-back-filename': 'tags.yaml' } }, file: 'apps/shop/tags.yaml' },
  ])('of $example is $file', ({ example, file }) => {
    expect(plan(example)).toMatchObject({ kind: 'write', plan: { file } })
  })

  test('takes the prefix from the settings', () => {
    expect(plan({}, { overrideFilePrefix: 'argocd' })).toMatchObject({
      plan: { file: 'apps/shop/.argocd-source-shop.yaml' },
    })
  })

  test.for(['tags.yml', '.yaml', '.argocd-source-shop.yaml'])('may be %s', (name) => {
    expect(plan({ annotations: { 'watcher/write-back-filename': name } })).toMatchObject({
      plan: { file: `apps/shop/${name}` },
    })
  })

  test.for(['Makefile', 'tags', 'tags.yaml.sh', 'tags.json', 'tagsyaml', 'tags.YAML', 'tags.yaml '])(
    'is never %j',
    (name) => {
      expect(plan({ annotations: { 'watcher/write-back-filename': name } })).toEqual({
        kind: 'refused',
        cause: 'annotation_invalid',
        reason: `write-back-filename: the file name "${name}" does not end in .yaml or .yml`,
      })
    },
  )

  test.for(['../x', '.git/config', 'a/b', '', '.', '..', '.gitmodules', '.gitattributes', 'x\n', 'a\\b', '.git'])(
    'B69 write-back-filename %j is refused, naming it',
    (name) => {
      const decision = plan({ annotations: { 'watcher/write-back-filename': name } })
      expect(decision).toMatchObject({
        cause: 'annotation_invalid',
        reason: expect.stringContaining('write-back-filename'),
      })
    },
  )
})

test('a common override file of two applications gives a warning (B73)', () => {
  const ofBoth = ['Demo', 'demo'].map((name) => planWriteBack(task, anApplication({ annotations: {}, name }), settings))
  expect(ofBoth).toMatchObject([
    {
      plan: { file: 'apps/shop/.watcher-source-demo.yaml' },
      warnings: [expect.stringContaining('application "demo"')],
    },
    { plan: { file: 'apps/shop/.watcher-source-demo.yaml' }, warnings: [] },
  ])
  const annotations = { 'watcher/write-back-filename': 'own.yaml' }
  expect(planWriteBack(task, anApplication({ annotations, name: 'Demo' }), settings)).toMatchObject({ warnings: [] })
})

describe('who may write, and with what', () => {
  test.for([
    { why: 'not_managed', annotations: { 'watcher/managed': 'yes' }, mayWrite: true, note: /managed = "true"/ },
    { why: 'not_managed', annotations: { 'watcher/managed': '' }, mayWrite: false, note: /^$/ },
    { why: 'no_credential', annotations: {}, mayWrite: false, note: /credential/ },
    { why: 'no_credential', annotations: { 'watcher/managed-images': '=' }, mayWrite: false, note: /credential/ },
    {
      why: 'no_alias',
      annotations: { 'watcher/managed-images': 'a=other' },
      mayWrite: true,
      note: /^nothing was committed: the annotation watcher\/managed-images has no alias for \S+; the nearest is a=other$/,
    },
  ])('$annotations, may write $mayWrite: only watched, $why', ({ why, annotations, mayWrite, note }) => {
    const decision = planWriteBack({ ...task, mayWrite }, anApplication({ annotations }), settings)
    expect(decision).toMatchObject({ kind: 'monitor', why, note: expect.stringMatching(note) })
  })

  test('every alias of an image gets the tag (spec 2.6, rule 3); an image without one is left out', () => {
    const annotations = {
      'watcher/managed-images': 'app=registry.example/shop,job=registry.example/shop',
      'watcher/job.helm.image-tag': 'job.tag',
    }
    const images = [...task.images, { image: 'registry.example/other', tag: 'v9' }]
    const decision = planWriteBack({ ...task, images }, anApplication({ annotations }), settings)
    expect(decision).toMatchObject({ plan: { entries: [{ name: 'image.tag' }, { name: 'job.tag', value: 'v2' }] } })
  })

  test('B61 a list of images with a fault fails the task, quoting the entry', () => {
    const annotations = { 'watcher/managed-images': 'app=registry.example/shop,a' }
    expect(plan({ annotations })).toMatchObject({
      kind: 'refused',
      cause: 'annotation_invalid',
      reason: expect.stringContaining('entry "a" '),
    })
  })

  test('B63 an alias without its Helm value path is refused by name', () => {
    const annotations = { 'watcher/managed-images': 'web=registry.example/shop' }
    expect(plan({ annotations })).toMatchObject({
      kind: 'refused',
      cause: 'annotation_invalid',
      reason: expect.stringContaining('web.helm.image-tag'),
    })
  })

  test.for([
    { change: { sshKeyPath: undefined }, names: 'SSH_KEY_PATH' },
    { change: { knownHostsPath: undefined }, names: 'SSH_KNOWN_HOSTS' },
  ])('without $names a task fails at once', ({ change, names }) => {
    const decision = plan({}, { gitCredentials: () => new Map(), ...change })
    expect(decision).toMatchObject({ cause: 'setting_missing', reason: expect.stringContaining(names) })
  })

  test('an https source of a known host is written to over SSH where only a key is set; the task names it as the source does', () => {
    const repository = 'https://git.example/team/deploy'
    const knownHosts = () => 'git.example ssh-ed25519 AAAA'
    expect(plan({ sources: [aSource({ repository })] }, { gitCredentials: () => new Map(), knownHosts })).toMatchObject(
      {
        kind: 'write',
        plan: { repository, address: 'git@git.example:team/deploy.git' },
      },
    )
  })

  test('an https address needs an entry of GIT_CREDENTIALS for its host', () => {
    const https = (repository: string) => plan({ sources: [aSource({ repository })] }, { sshKeyPath: undefined })
    expect(https('https://git.example/team/deploy.git')).toMatchObject({ kind: 'write' })
    expect(https('https://other.example/team/deploy.git')).toMatchObject({
      cause: 'setting_missing',
      reason: expect.stringMatching(/GIT_CREDENTIALS.*other\.example/),
    })
  })

  test.for([
    { allowed: 'git.example', kind: 'write' },
    { allowed: 'git.example/team', kind: 'write' },
    { allowed: 'git.example/*/deploy', kind: 'write' },
    { allowed: 'git@git.example:team/deploy.git', kind: 'write' },
    { allowed: 'https://git.example/team/deploy', kind: 'write' },
    { allowed: 'git.example/te', kind: 'refused' },
    { allowed: 'git.example/team/deploy2', kind: 'refused' },
    { allowed: 'other.example', kind: 'refused' },
    { allowed: 'git.example:22', kind: 'write' },
    { allowed: 'GIT.example:22/team/deploy', kind: 'write' },
    { allowed: 'ssh://git@git.example:22/team/deploy.git', kind: 'write' },
    { allowed: 'git.example:2222', kind: 'refused' },
    { allowed: 'git.example:2222/team/deploy', kind: 'refused' },
    { allowed: 'ssh://git@git.example:2222/team/deploy.git', kind: 'refused' },
    { allowed: 'https://git.example:443/team/deploy', kind: 'refused' },
  ])('T22 with WRITE_BACK_ALLOWED_REPOS = $allowed: $kind', ({ allowed, kind }) => {
    expect(plan({}, { allowedRepos: [allowed] })).toMatchObject({ kind })
  })

  test.for([
    { allowed: 'git.example', repository: 'ssh://git@git.example:2222/team/deploy', kind: 'write' },
    { allowed: 'git.example:2222/team', repository: 'ssh://git@git.example:2222/team/deploy', kind: 'write' },
    { allowed: 'git.example:2222', repository: 'ssh://git@git.example:22/team/deploy', kind: 'refused' },
    { allowed: 'git.example:443', repository: 'https://git.example/team/deploy', kind: 'write' },
    { allowed: 'git.example:8443', repository: 'https://git.example/team/deploy', kind: 'refused' },
  ])('T22 with WRITE_BACK_ALLOWED_REPOS = $allowed, $repository: $kind', ({ allowed, repository, kind }) => {
    expect(plan({ sources: [aSource({ repository })] }, { allowedRepos: [allowed] })).toMatchObject({ kind })
  })

  test('T22 with WRITE_BACK_ALLOWED_REPOS: the port is that of the transport in use', () => {
    const overSsh = {
      gitCredentials: () => new Map<string, never>(),
      knownHosts: () => 'git.example ssh-ed25519 AAAA\n',
    }
    const sources = [aSource({ repository: 'https://git.example/team/deploy.git' })]
    expect(plan({ sources }, { ...overSsh, allowedRepos: ['git.example:22'] })).toMatchObject({ kind: 'write' })
    expect(plan({ sources }, { ...overSsh, allowedRepos: ['git.example:443'] })).toMatchObject({ kind: 'refused' })
  })

  test.for([
    { paths: '.', warnings: 0 },
    { paths: '/apps', warnings: 0 },
    { paths: 'templates;../shop', warnings: 0 },
    { paths: '/apps/*/x', warnings: 0 },
    { paths: 'templates;/other', warnings: 1 },
  ])('manifest-generate-paths $paths brings $warnings warnings', ({ paths, warnings }) => {
    const decision = plan({ annotations: { 'argocd.argoproj.io/manifest-generate-paths': paths } })
    expect(decision).toMatchObject({ kind: 'write', warnings: Array(warnings).fill(expect.any(String)) })
  })
})
