import { readdir, readFile } from 'node:fs/promises'

/** The command lines of all processes of this machine, as /proc shows them. */
export async function runningCommands(): Promise<readonly string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  // A process may end meanwhile.
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.map((line) => line.replaceAll('\0', ' '))
}
