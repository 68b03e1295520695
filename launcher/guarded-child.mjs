import { spawn } from 'node:child_process'

/**
 * Runs a program in a session of its own, so that Ctrl+C reaches only us and we choose the order in which things end,
 * and has a bystander shell signal it when our end of a pipe closes: the parent may be killed
 * with SIGKILL and the child still goes. (Windows has neither; there the program is simply started.)
 */
const watchThenRun = '( (cat <&3 >/dev/null; kill -"$0" $$ 2>/dev/null) & ); exec "$@" 3<&-'

/** What to start, the signal that stops it, and where its output goes.
 * @typedef {{
 *   command: string,
 *   args: readonly string[],
 *   stopSignal: 'TERM' | 'INT',
 *   stdout: 'pipe' | 'inherit' | number,
 *   stderr: 'pipe' | 'inherit' | number,
 *   env?: NodeJS.ProcessEnv,
 *   cwd?: string,
 *   uid?: number,
 *   gid?: number,
 * }} ChildPlan
 *
 * @param {ChildPlan} plan
 * @returns {import('node:child_process').ChildProcess} its pid is the program's own
 */
export function spawnGuarded({ command, args, stopSignal, stdout, stderr, ...options }) {
  if (process.platform === 'win32') return spawn(command, args, { ...options, stdio: ['pipe', stdout, stderr] })
  const child = spawn('/bin/sh', ['-c', watchThenRun, stopSignal, command, ...args], {
    ...options,
    detached: true,
    stdio: ['pipe', stdout, stderr, 'pipe'],
  })
  return child.once('exit', () => releasePipes(child)) // the bystander goes, and nothing keeps us alive
}

/** @param {import('node:child_process').ChildProcess} child */
function releasePipes(child) {
  child.stdin?.destroy()
  child.stdio[3]?.destroy()
}

/**
 * Asks a child to stop and waits for its end; forces it after the time limit.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @param {'SIGTERM' | 'SIGINT'} signal
 * @param {number} limitMs
 * @returns {Promise<void>}
 */
export async function stopChild(child, signal, limitMs) {
  if (child.exitCode !== null || child.signalCode !== null) return
  await new Promise((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), limitMs)
    child.once('exit', () => {
      clearTimeout(force)
      resolve(undefined)
    })
    child.kill(signal)
  })
}
