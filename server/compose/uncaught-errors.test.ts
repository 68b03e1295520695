import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a throw in a timer, in an event handler and in a promise is told, and the process goes on', () => {
  const program = `
    import { EventEmitter } from 'node:events'
    import { handleUncaughtErrors } from ${JSON.stringify(fileURLToPath(new URL('./uncaught-errors.ts', import.meta.url)))}
    handleUncaughtErrors(process, ({ message }) => console.log(message))
    const emitter = new EventEmitter().on('news', () => { throw new Error('handler') })
    setTimeout(() => { throw new Error('timer') })
    setTimeout(() => emitter.emit('news'))
    setTimeout(() => new EventEmitter().emit('error', new Error('no listener')))
    Promise.reject(new Error('promise'))
    setTimeout(() => console.log('still here'), 50)
  `
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect([status, stdout.trim().split('\n').toSorted()]).toEqual([
    0,
    ['handler', 'no listener', 'promise', 'still here', 'timer'],
  ])
})
