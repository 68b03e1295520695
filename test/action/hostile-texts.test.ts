import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { runStep } from '../support/run-action.ts'
import { runClient } from '../support/run-client.ts'
import { startHostileService } from '../support/start-hostile-service.ts'

/** What a runner, a terminal, a browser or the files of a step would act upon. */
const hostile = [
  'x',
  '::error::a',
  ' ::add-mask::b',
  'c ##[error]d',
  '%0A::set-output name=status::deployed',
  'status<<end\ndeployed\nend',
  '| cell | <img src=x onerror=alert(1)> [link](https://evil.example) `code` **bold** ~~s~~ $x$ &lt; https://evil.example www.evil.example',
  '# heading',
  '```',
  '\u001b[2J\u0007\r\u2028\u202eend',
].join('\n')

const normalize = (text: string, url: string) =>
  text.replaceAll(url, '<server>').replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')

test('a text of others is nothing but a text, in the log, the outputs and the summary', async () => {
  await using service = await startHostileService(hostile)
  const inputs = { server: service.url, apps: 'shop', images: 'registry.example/shop:1', token: 'dwt_1' }
  const { code, log, outputs, summary } = await runStep('main', { inputs })
  const all = [
    `exit ${code}`,
    ...Object.entries(outputs).map(([name, value]) => `${name}: ${value}`),
    `\n== summary\n${summary}\n== log\n${log}`,
  ].join('\n')
  await expect(normalize(all, service.url)).toMatchFileSnapshot('golden/hostile.txt')
  const commands = log.split('\n').filter((line) => /^\s*::/.test(line))
  expect(commands.map((line) => line.split('::')[1]?.split(' ')[0])).toEqual(['add-mask', 'group', 'endgroup', 'error'])
  expect(log.split('\n').filter((line) => line.includes('##[') && !line.startsWith('::error '))).toEqual([])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  expect(log + summary).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u2028\u202e]/)
})

test('the client shows a task without commands of others in it', async () => {
  await using service = await startHostileService(hostile)
  const variables = { WATCHER_URL: service.url, GITHUB_ACTIONS: 'true' }
  const shown = await runClient(['status', randomUUID()], variables)
  const refused = await runClient(['deploy', '--app', 'shop', '--image', 'x\r::error::\n##[error]y/'], variables)
  const usage = await runClient(['deploy', '--on-failure', 'x ##[error]y\n::error::z'], variables)
  for (const { stdout, stderr } of [shown, refused, usage])
    for (const line of `${stdout}${stderr}`.split(/[\r\n]/)) {
      expect(line).not.toMatch(/^\s*::/)
      expect(line).not.toContain('##[')
    }
  expect([refused.code, usage.code]).toEqual([2, 2])
})

test('an input that is wrong is quoted as a text', async () => {
  const inputs = { server: 'http://127.0.0.1:1', apps: 'shop', token: 'dwt_1' }
  const { code, log } = await runStep('main', { inputs: { ...inputs, images: '::x ##[error]y' } })
  expect(code).toBe(2)
  expect(log).toBe(
    '--image ::x ## [error]y: must end in a tag, such as ::x ##[error]y:1.2.0\n'.replaceAll('##[', '## [') +
      '::error title=usage::--image ::x ##[error]y: must end in a tag, such as ::x ##[error]y:1.2.0\n',
  )
})
