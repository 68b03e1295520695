// biome-ignore lint/style/noRestrictedImports: a shell reads what is meant for one
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { firstCommand, githubStep, gitlabJob } from './first-command.ts'

const app = { app: "it's", image: 'registry.example/shop', tag: 'v1' }

test.for([
  ['a terminal', firstCommand('http://watcher', app)],
  ['GitHub', parse(githubStep('http://watcher', app))[0].run],
  ['GitLab', parse(gitlabJob('http://watcher', app)).deploy.script[1]],
] as const)('the command for %s is one that a shell reads, with the name of the application', ([, command]) => {
  execFileSync('sh', ['-n', '-c', command])
  expect(command).toContain("it'\\''s")
  expect(command).toContain('http://watcher/api/v1/tasks')
})
