import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { argoWatcherVariables } from './argo-watcher-variables.ts'
import { type DeployFlags, moment, seconds, submissionsOf } from './submissions.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))
const fileOf = (content: string) => {
  const file = path.join(folder, `${Math.random()}.json`)
  writeFileSync(file, content)
  return file
}

const shop = { app: 'shop', images: ['registry.example:5000/shop:1.2.0'] }
const read = (flags: Partial<DeployFlags>, variables: Record<string, string> = {}) =>
  submissionsOf({ deployments: [], ...flags }, variables, argoWatcherVariables(variables)).map(
    ({ submission }) => submission,
  )

describe('what is submitted', () => {
  test('the images of each application, with the defaults of the CI', () => {
    const variables = { GITLAB_CI: '1', GITLAB_USER_LOGIN: 'ada', CI_PROJECT_PATH: 'team/shop' }
    expect(read({ deployments: [shop, { app: 'api', images: ['a:1', 'b:2'] }] }, variables)).toEqual([
      {
        app: 'shop',
        images: [{ image: 'registry.example:5000/shop', tag: '1.2.0' }],
        author: 'ada',
        project: 'team/shop',
      },
      {
        app: 'api',
        images: [
          { image: 'a', tag: '1' },
          { image: 'b', tag: '2' },
        ],
        author: 'ada',
        project: 'team/shop',
      },
    ])
  })

  test('flags win over the CI, and a commit of their own takes nothing of it', () => {
    const variables = {
      GITHUB_ACTIONS: '1',
      GITHUB_ACTOR: 'ada',
      GITHUB_REPOSITORY: 'team/shop',
      GITHUB_SHA: 'abc',
      GITHUB_SERVER_URL: 'https://github.com',
    }
    const flags = {
      deployments: [shop],
      author: 'bob',
      sourceSha: 'def',
      timeout: 60,
      refresh: false,
      waitForApp: 30,
      onFailure: 'rollback',
      environment: 'production',
    }
    expect(read(flags, variables)[0]).toMatchObject({
      author: 'bob',
      timeout: 60,
      refresh: false,
      wait_for_app: 30,
      on_failure: 'rollback',
      environment: 'production',
      source: { repository: 'team/shop', sha: 'def' },
    })
    expect(read(flags, variables)[0]?.source).not.toHaveProperty('url')
  })

  test('outside a CI the user and the application stand for author and project', () => {
    expect(read({ deployments: [shop] })[0]).toMatchObject({ author: expect.stringMatching(/./), project: 'shop' })
  })

  test('each submission has a key of its own', () => {
    const [one, other] = submissionsOf({ deployments: [shop, shop] }, {}, undefined)
    expect(one?.key).not.toBe(other?.key)
  })

  test('a file of tasks wins over flags', () => {
    const file = fileOf(
      '{"tasks":[{"app":"shop","images":["shop:1"],"author":"eve"},{"app":"api","images":[{"image":"api","tag":"2"}]}]}',
    )
    expect(read({ fromFile: file, author: 'bob' })).toMatchObject([
      { app: 'shop', author: 'eve', images: [{ image: 'shop', tag: '1' }] },
      { app: 'api', author: 'bob', images: [{ image: 'api', tag: '2' }] },
    ])
  })

  test("argo-watcher's variables alone", () => {
    const variables = {
      ARGO_WATCHER_URL: 'http://127.0.0.1',
      ARGO_APP: 'shop',
      IMAGES: 'registry.example/shop, registry.example/worker',
      IMAGE_TAG: '1.2.0',
      COMMIT_AUTHOR: 'ada',
      PROJECT_NAME: 'team',
      TASK_TIMEOUT: '60',
      TASK_REFRESH: 'false',
    }
    expect(read({}, variables)).toEqual([
      {
        app: 'shop',
        images: [
          { image: 'registry.example/shop', tag: '1.2.0' },
          { image: 'registry.example/worker', tag: '1.2.0' },
        ],
        author: 'ada',
        project: 'team',
        timeout: 60,
        refresh: false,
      },
    ])
  })
})

describe('what is refused', () => {
  test.for([
    ['nothing', {}, 'nothing to deploy: give --app and --image, or --from-file'],
    [
      'an application without an image',
      { deployments: [{ app: 'shop', images: [] }] },
      '--app shop: needs an --image behind it',
    ],
    [
      'an image without a tag',
      { deployments: [{ app: 'shop', images: ['host:5000/shop'] }] },
      '--image host:5000/shop: must end in a tag, such as host:5000/shop:1.2.0',
    ],
    [
      'an image with an empty tag',
      { deployments: [{ app: 'shop', images: ['shop:'] }] },
      '--image shop:: must end in a tag, such as shop:1.2.0',
    ],
    [
      'a digest',
      { deployments: [{ app: 'shop', images: ['shop@sha256:ab'] }] },
      '--image shop@sha256:ab: must name a tag, not a digest',
    ],
    [
      'a commit without a repository',
      { deployments: [shop], sourceSha: 'abc' },
      '--source-repository is missing: a source has both',
    ],
    [
      'a branch without a commit',
      { deployments: [shop], sourceRef: 'main' },
      '--source-sha is missing: a source has both',
    ],
    ['a file that is not there', { fromFile: '/no/such/file' }, '--from-file /no/such/file: ENOENT'],
    ['a file that is no JSON', { fromFile: fileOf('{') }, 'JSON'],
    ['a file without tasks', { fromFile: fileOf('{"tasks":[]}') }, 'must be a list of tasks, or {"tasks": […]}'],
    ['a task without an application', { fromFile: fileOf('[{"images":[]}]') }, 'tasks[0].app: must be a string'],
    ['a task without images', { fromFile: fileOf('[{"app":"shop"}]') }, 'tasks[0].images: must be a list'],
    [
      'a task with odd images',
      { fromFile: fileOf('[{"app":"shop","images":[7]}]') },
      'tasks[0].images: must be a list of {"image", "tag"}',
    ],
  ] as const)('%s', ([, flags, message]) => expect(() => read(flags)).toThrow(message))

  test.for(['ARGO_APP', 'IMAGES', 'IMAGE_TAG'])('%s is missing', (name) => {
    const all = { ARGO_WATCHER_URL: 'http://127.0.0.1', ARGO_APP: 'shop', IMAGES: 'shop', IMAGE_TAG: '1' }
    expect(() => read({}, { ...all, [name]: '' })).toThrow(`${name} is not set`)
  })
})

test.for([
  ['90s', 90],
  ['15m', 900],
  ['1h', 3_600],
  ['45', 45],
] as const)('the duration %s', ([text, result]) => expect(seconds(text, '--timeout')).toBe(result))

test.for(['soon', '-5m', '25h', ''])('the duration "%s" is refused', (text) =>
  expect(() => seconds(text, '--timeout')).toThrow(`--timeout ${text}: must be a duration`),
)

test('a time is ISO 8601 or Unix seconds', () => {
  expect(moment('2026-11-28T12:00:00Z', '--until')).toBe(1_795_867_200)
  expect(moment('1795867200.5', '--until')).toBe(1_795_867_200.5)
  expect(() => moment('tomorrow', '--until')).toThrow('--until tomorrow: must be a time')
})
