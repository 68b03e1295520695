import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { startFileGitHost } from '../../../test/support/file-git-host.ts'
import { aDatabase, aWriteBackService } from '../../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../../test/support/write-back-settings.ts'

const { host } = await startFileGitHost()

describe('commit messages on the branch (spec 2.7)', () => {
  test('deployments have the message of the format each; one whose format fails has the default message', async () => {
    await host.createRepository('messages.git', { 'README.md': 'hello\n' })
    const service = await aWriteBackService(writeBackSettings(host), await aDatabase())
    const format =
      '{{.App}}: {{range .Images}}{{.Image}}={{.Tag}}{{end}}\n\nby {{.Author}}{{if eq .App "app-4"}}{{.Nope}}{{end}}'
    const apps = Array.from({ length: 8 }, (_, at) => `app-${at}`)
    const ids: string[] = []
    for (const [at, app] of apps.entries())
      ids.push(await service.queue(host.url('messages.git'), { app, tag: `v${at}`, format }))
    const outcomes = await Promise.all(ids.map(service.outcome))
    const messages = await Promise.all(
      outcomes.map(async (outcome) =>
        outcome.kind === 'landed' ? host.git('messages.git', 'log', '-1', '--format=%B', outcome.commit) : outcome.kind,
      ),
    )
    expect(messages.map((message) => message.trimEnd())).toEqual(
      apps.map((app, at) => {
        const body = at === 4 ? `watcher(${app}): update image tag` : `${app}: registry.example/shop=v${at}\n\nby ada`
        return `${body}\n\nWatcher-Task: ${ids[at]}`
      }),
    )
    const trailers = await host.git('messages.git', 'log', '--format=%(trailers:key=Watcher-Task,valueonly)', 'main')
    expect(trailers.split(/\s+/).filter(Boolean).toSorted()).toEqual(ids.toSorted())
  })

  test('without trailers, one on the branch does not count: the push without an answer is sent again', async () => {
    await host.createRepository('forged.git', { 'README.md': 'hello\n' })
    const directory = host.directory('forged.git')
    const hook = path.join(directory, 'hooks', 'update')
    const identity = 'GIT_AUTHOR_NAME=r GIT_AUTHOR_EMAIL=r GIT_COMMITTER_NAME=r GIT_COMMITTER_EMAIL=r'
    const script = [
      '[ -e forged ] && exit 0',
      'while [ ! -e id ]; do sleep 0.1; done',
      `git update-ref refs/heads/main "$(${identity} git commit-tree -p main -m "rival" -m "Watcher-Task: $(cat id)" "main^{tree}")"`,
      'touch forged; kill -9 $PPID',
    ]
    await writeFile(hook, `#!/bin/sh\n${script.join('\n')}\n`)
    await chmod(hook, 0o755)
    const service = await aWriteBackService(writeBackSettings(host, { commitTrailer: false }), await aDatabase())
    const id = await service.queue(host.url('forged.git'), { commitTrailer: false })
    await writeFile(path.join(directory, 'id'), id)
    const outcome = await service.outcome(id)
    expect(outcome).toMatchObject({ kind: 'landed', commit: await host.git('forged.git', 'rev-parse', 'main') })
    const messages = await host.git('forged.git', 'log', '--format=%B', 'main')
    expect(messages).toBe(`watcher(shop): update image tag\n\nrival\n\nWatcher-Task: ${id}\n\nfirst`)
  })
})
